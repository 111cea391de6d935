import type { Explanation, Trace, WorkflowStatus } from '../../../../../client/responses.ts'
import { isOpen } from '../../../../../shared/wire/execution.ts'
import type { TraceNode } from '../../../../../shared/wire/trace/tree.ts'
import { mayOf, useCapabilities } from '../capabilities.ts'
import { useCatalog, workflowOf } from '../catalog.ts'
import { useNow, useTitle } from '../hooks.ts'
import { CopyButton, Elapsed, ErrorMessage, StatusPill, Time } from '../parts.tsx'
import { hrefOf, runHref } from '../route.ts'
import { useMemo, useState } from '../ui.ts'
import { About, Progress } from './about.tsx'
import { Actions, ResetDialog } from './actions.tsx'
import { ExplainBanner } from './explain.tsx'
import { Messages, type OpenForm } from './messages.tsx'
import { NodeDetails } from './node-details.tsx'
import { Stream } from './stream.tsx'
import { Timeline } from './timeline.tsx'
import { type Reason, useRun } from './use-run.ts'

export function SingleRunPage({ workflowId, runId }: { workflowId: string; runId: string | null }) {
  const run = useRun(workflowId, runId)
  useTitle(workflowId)
  const { explanation, error } = run
  return (
    <main id="main" aria-busy={String(explanation === null && error === null)}>
      <nav class="crumbs" aria-label="Breadcrumb">
        <a href={hrefOf('runs')}>Runs</a> <span aria-hidden="true">/</span> <span class="id">{workflowId}</span>
      </nav>
      {explanation === null && <h1 class="id">{workflowId}</h1>}
      {explanation === null && error === null && <p class="quiet loading">Loading…</p>}
      {error !== null && <ErrorMessage error={error} retry={run.refresh} />}
      {explanation !== null && <Run run={run} explanation={explanation} />}
    </main>
  )
}

function Run({ run, explanation }: { run: ReturnType<typeof useRun>; explanation: Explanation }) {
  const { traceError, isFollowing, refresh } = run
  const { run: status, reasons } = explanation
  const open = isOpen(status.status)
  const now = useNow(open ? 500 : null)
  const { listing, error: catalogError } = useCatalog(status.catalog)
  const capabilities = useCapabilities()
  const may = mayOf(capabilities)
  const [selected, setSelected] = useState<string | null>(null)
  const [view, setView] = useState<{ from: number; to: number } | null>(null)
  const [opened, setOpened] = useState<OpenForm | null>(null)
  const [resetting, setResetting] = useState<string | null>(null)
  const trace = useMemo(() => withReasons(run.trace, reasons), [run.trace, reasons])
  const node = trace === null ? null : (findNode(trace.data, selected) ?? trace.data)
  return (
    <>
      <Header status={status} trace={trace} isFollowing={isFollowing && open} now={now}>
        <Actions status={status} may={may} canPause={capabilities?.features.pause === true} onDone={refresh} />
      </Header>
      <ExplainBanner
        explanation={explanation}
        trace={trace}
        now={now}
        may={may}
        onMessage={(kind, name) => setOpened({ kind, name, at: Date.now() })}
        onDone={refresh}
      />
      <Progress status={status} now={now} />
      {traceError !== null && <ErrorMessage error={traceError} />}
      {trace?.warnings.map((warning) => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
      <div class="run-grid">
        {trace !== null && (
          <Timeline
            root={trace.data}
            now={now}
            selected={selected ?? trace.data.id}
            onSelect={setSelected}
            view={view}
            onView={setView}
          />
        )}
        <div class="run-side">
          {node !== null && trace !== null && (
            <NodeDetails
              key={node.id}
              node={node}
              now={now}
              isRoot={node === trace.data}
              onZoom={() => setView(around(node, now))}
              onReset={may('reset') && canReset(node, trace) ? () => setResetting(node.name) : null}
            />
          )}
          <About status={status} trace={trace} />
        </div>
        {(listing !== null || catalogError !== null) && (
          <Messages
            may={may}
            target={status}
            isOpen={open}
            workflow={workflowOf(listing, status.workflowName)}
            opened={opened}
            onSent={refresh}
          />
        )}
        <Stream workflowId={status.workflowId} runId={status.runId} />
      </div>
      {resetting !== null && <ResetDialog status={status} stepName={resetting} onClose={() => setResetting(null)} />}
    </>
  )
}

function Header({ status, trace, isFollowing, now, children }: HeaderProps) {
  const attributes = trace?.data.attributes ?? {}
  const { parent } = status
  return (
    <div class="run-head">
      <div class="run-title">
        <h1>{status.workflowName}</h1>
        <StatusPill status={status.status} />
        {status.problem !== null && <span class="badge stuck">Stuck</span>}
        {isFollowing && (
          <span class="quiet small following">
            <span class="dot live-dot" aria-hidden="true" /> Live
          </span>
        )}
      </div>
      {children}
      <p class="meta">
        <span class="id">
          {status.workflowId} <CopyButton text={() => status.workflowId} label="Copy id" class="ghost tiny" />
        </span>
        <span>
          Started <Time at={status.startedAt} now={now} />
        </span>
        <span>
          {status.completedAt === null ? 'Running for ' : 'Took '}
          <Elapsed from={status.startedAt} to={status.completedAt} now={now} />
        </span>
        {parent !== null && (
          <span>
            Child of <a href={runHref(parent.workflowId, parent.runId)}>{parent.workflowId}</a>
          </span>
        )}
        {typeof attributes.previousRunId === 'string' && (
          <a href={runHref(status.workflowId, attributes.previousRunId)}>Previous run</a>
        )}
        {typeof attributes.nextRunId === 'string' && (
          <a href={runHref(status.workflowId, attributes.nextRunId)}>Next run</a>
        )}
      </p>
    </div>
  )
}

interface HeaderProps {
  status: WorkflowStatus
  trace: Trace | null
  isFollowing: boolean
  now: number
  children?: unknown
}

/** Retries leave no events in the history, so the explanation knows more about open steps than an earlier trace. */
function withReasons(trace: Trace | null, reasons: readonly Reason[]): Trace | null {
  const known = new Map(reasons.flatMap((one) => ('activityId' in one ? [[one.activityId, one]] : [])))
  if (trace === null) return null
  const children = trace.data.children.map((node) => {
    const reason = node.kind === 'step' && node.endedAt === null ? known.get(String(node.attributes.activityId)) : null
    return reason == null ? node : { ...node, attributes: { ...node.attributes, ...attributesOf(reason) } }
  })
  return { ...trace, data: { ...trace.data, children } }
}

function attributesOf({
  attempt,
  since,
  nextAttemptAt,
  lastFailure,
}: Extract<Reason, { activityId: string }>): Record<string, unknown> {
  const at = since === null ? undefined : Date.parse(since)
  const times = nextAttemptAt ? { lastEndedAt: at, nextAttemptAt: Date.parse(nextAttemptAt) } : { lastStartedAt: at }
  const none = { lastStartedAt: undefined, lastEndedAt: undefined, nextAttemptAt: undefined }
  return { attempts: attempt, ...(lastFailure && { lastFailure }), ...none, ...times }
}

function findNode(root: TraceNode, id: string | null): TraceNode | null {
  if (id === null) return null
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.id === id) return node
    waiting.push(...node.children)
  }
  return null
}

/** The part of the timeline with this node, and some time around it. */
function around({ startedAt, endedAt }: TraceNode, now: number): { from: number; to: number } {
  const length = Math.max(4, (endedAt ?? now) - startedAt)
  return { from: startedAt - length * 0.15, to: startedAt + length * 1.15 }
}

/** Steps of this run that have completed; not those of child runs. */
function canReset(node: TraceNode, trace: Trace): boolean {
  return node.kind === 'step' && node.endedAt !== null && node.error === null && trace.data.children.includes(node)
}
