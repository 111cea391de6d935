import { kindText, labelOf, stateOf } from '../../../../../shared/trace-view/rows.ts'
import type { TraceError } from '../../../../../shared/wire/trace/entry.ts'
import type { TraceNode } from '../../../../../shared/wire/trace/tree.ts'
import { clockText, durationText } from '../format.ts'
import { Facts, Json } from '../parts.tsx'
import { runHref } from '../route.ts'

// Shown elsewhere, or of no use to people.
const HIDDEN = new Set([
  'status',
  'workflowId',
  'runId',
  'previousRunId',
  'nextRunId',
  'catalog',
  'durationMs',
  'lastFailure',
  'abandoned',
  'activityId',
  'attempts',
  'queueMs',
  'lastStartedAt',
  'lastEndedAt',
  'nextAttemptAt',
  'summary',
])

/** What is known about one step. */
export function NodeDetails({ node, now, isRoot, onZoom, onReset }: NodeDetailsProps) {
  const state = stateOf(node)
  const label = labelOf(node, durationText)
  return (
    <section class="card details" aria-label={isRoot ? 'Input and output' : `Details of ${label}`}>
      <div class="details-head">
        <div>
          <p class="quiet small">
            <span class={`state-dot ${state}`} aria-hidden="true" /> {kindText(node)} ·{' '}
            {state === 'open' ? 'running' : state}
          </p>
          <h2>{label}</h2>
        </div>
        {!isRoot && (
          <button type="button" class="ghost" onClick={onZoom}>
            Zoom to it
          </button>
        )}
      </div>
      {!isRoot && <Facts facts={factsOf(node, now)} />}
      <Notes node={node} />
      <Values node={node} isRoot={isRoot} />
      {onReset !== null && (
        <p>
          <button type="button" class="secondary" onClick={onReset}>
            Reset to this step…
          </button>
        </p>
      )}
    </section>
  )
}

function factsOf({ startedAt, endedAt, attributes }: TraceNode, now: number) {
  const { attempts, queueMs, activityId, lastStartedAt, nextAttemptAt, summary } = attributes
  const facts: [string, unknown, boolean][] = [
    ['About', summary, summary !== undefined],
    ['Started', clockText(startedAt), true],
    [endedAt === null ? 'Running for' : 'Took', durationText((endedAt ?? now) - startedAt), true],
    [endedAt === null ? 'Attempt' : 'Attempts', attempts, Number(attempts) > 1],
    ['Last attempt', clockText(Number(lastStartedAt)), Number(attempts) > 1 && lastStartedAt !== undefined],
    ['Next attempt', clockText(Number(nextAttemptAt)), nextAttemptAt !== undefined],
    ['Waited for a worker', durationText(Number(queueMs)), Number(queueMs) > 0],
    ['Activity id', activityId, activityId !== undefined],
  ]
  const known = facts.filter(([, , isShown]) => isShown).map(([name, value]): [string, unknown] => [name, value])
  return [...known, ...Object.entries(attributes).filter(([name]) => !HIDDEN.has(name))]
}

/** What else happened. */
function Notes({ node: { kind, error, attributes } }: { node: TraceNode }) {
  const lastFailure = attributes.lastFailure as TraceError | undefined
  const childId = kind === 'child_workflow' && typeof attributes.workflowId === 'string' ? attributes.workflowId : null
  return (
    <>
      {childId !== null && (
        <p>
          <a href={runHref(childId, String(attributes.runId ?? ''))}>Open the run of {childId}</a>
        </p>
      )}
      {error !== null && <ErrorBox title="Error" error={error} />}
      {error === null && lastFailure != null && <ErrorBox title="Last failed attempt" error={lastFailure} isPast />}
      {attributes.abandoned === true && <p class="quiet small">The run ended before this step did.</p>}
      {attributes.storedElsewhere === true && (
        <p class="quiet small">A value is in external storage, and cannot be shown here.</p>
      )}
    </>
  )
}

function Values({ node: { input, output, endedAt, error }, isRoot }: { node: TraceNode; isRoot: boolean }) {
  const hasOutput = output !== null || (isRoot && endedAt !== null && error === null)
  return (
    <>
      {(input !== null || isRoot) && <Value title="Input" value={input} />}
      {hasOutput && <Value title="Output" value={output} />}
      {isRoot && endedAt === null && <p class="quiet small">The output appears here when the run has ended.</p>}
    </>
  )
}

interface NodeDetailsProps {
  node: TraceNode
  now: number
  isRoot: boolean
  onZoom: () => void
  onReset: (() => void) | null
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <>
      <h3>{title}</h3>
      <Json value={value} label={title} />
    </>
  )
}

function ErrorBox({ title, error, isPast = false }: { title: string; error: TraceError; isPast?: boolean }) {
  return (
    <>
      <h3>{title}</h3>
      <div class={isPast ? 'error-box past' : 'error-box'}>
        {causesOf(error).map(({ name, message }, depth) => (
          <p key={depth}>
            {depth > 0 && <span class="quiet">caused by </span>}
            <code>{name}</code> {message}
          </p>
        ))}
      </div>
    </>
  )
}

function causesOf(error: TraceError): TraceError[] {
  const causes: TraceError[] = []
  for (let at: TraceError | null | undefined = error; at != null && causes.length < 10; at = at.cause) causes.push(at)
  return causes
}
