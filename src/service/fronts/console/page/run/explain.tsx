import type { Explanation, Trace, WorkflowStatus } from '../../../../../client/responses.ts'
import { call } from '../api.ts'
import type { May } from '../capabilities.ts'
import { durationText, sentenceOf } from '../format.ts'
import { useAct } from '../hooks.ts'
import { ErrorMessage, statusText } from '../parts.tsx'
import { QuestionForm } from '../questions/question-form.tsx'
import { runHref } from '../route.ts'
import type { Reason } from './use-run.ts'

/** The answer to "what is this run doing?", before everything else: the sentences of the service. */
export function ExplainBanner(props: ExplainProps) {
  const { explanation, trace, now } = props
  if (explanation.run.completedAt !== null) return <Closed status={explanation.run} trace={trace} />
  const [main, ...others] = explanation.reasons
  if (main === undefined) return null
  return (
    <section class={`explain ${TONES.get(main.kind) ?? 'fine'}`} aria-label="What the run is waiting for">
      <p class="small">
        {TITLES.get(main.kind) ?? statusText(main.kind)}
        {main.since !== null && ` · ${sinceText(main.since, now)}`}
        {attemptText(main)}
      </p>
      <p class="headline">{sentenceOf(main.advice, now)}</p>
      <Todo {...props} reason={main} />
      {others.length > 0 && (
        <ul class="others">
          {others.slice(0, MAX_OTHERS).map((reason) => (
            <li>
              {sentenceOf(reason.advice, now)}
              <Todo {...props} reason={reason} />
            </li>
          ))}
          {others.length > MAX_OTHERS && <li class="quiet">and {others.length - MAX_OTHERS} more</li>}
        </ul>
      )}
    </section>
  )
}

interface ExplainProps {
  explanation: Explanation
  trace: Trace | null
  now: number
  may: May
  onMessage: (kind: 'signal' | 'update', name: string) => void
  onDone: () => void
}

const MAX_OTHERS = 4

const TONES = new Map([
  ['workflow_task_failing', 'bad'],
  ['no_workers', 'bad'],
  ['waiting_worker', 'warn'],
  ['activity_retrying', 'warn'],
  ['paused', 'warn'],
  ['canceling', 'warn'],
  ['waiting_handler', 'ask'],
  ['waiting_answer', 'ask'],
])

// Of those whose kind is not a phrase.
const TITLES = new Map([
  ['waiting_worker', 'Waiting for a worker'],
  ['waiting_handler', 'Waiting for a message'],
  ['waiting_answer', 'Waiting for an answer'],
  ['waiting_timer', 'Waiting for a timer'],
  ['waiting_child', 'Waiting for a child workflow'],
])

function sinceText(since: string, now: number): string {
  return durationText(Math.max(0, now - new Date(since).getTime()))
}

function attemptText(reason: Reason): string {
  if (!('activityId' in reason)) return ''
  const { name, attempt, maximumAttempts } = reason
  return ` · ${name}, attempt ${attempt}${maximumAttempts === null ? '' : ` of ${maximumAttempts}`}`
}

/** What the visitor can do about the reason. */
function Todo({ reason, explanation, may, onMessage, onDone }: ExplainProps & { reason: Reason }) {
  const { action } = reason
  if (reason.kind === 'waiting_handler')
    return (
      <p class="buttons">
        {(reason.signals ?? [])
          .filter((name) => may('signal', name))
          .map((name) => (
            <button key={`signal ${name}`} type="button" class="secondary" onClick={() => onMessage('signal', name)}>
              Send {name}…
            </button>
          ))}
        {(reason.updates ?? [])
          .filter((name) => may('update', name))
          .map((name) => (
            <button key={`update ${name}`} type="button" class="secondary" onClick={() => onMessage('update', name)}>
              Update {name}…
            </button>
          ))}
      </p>
    )
  if (reason.kind === 'waiting_answer') {
    const question = { ...explanation.run, key: reason.key, schema: reason.schema, mayAnswer: action !== null }
    return <QuestionForm key={reason.key} question={question} onAnswered={onDone} />
  }
  return action === null ? null : <Act key={action.path} action={action} onDone={onDone} />
}

/** A link for a request that reads, a button for one that does something. */
function Act({ action, onDone }: { action: NonNullable<Reason['action']>; onDone: () => void }) {
  const { busy, error, act } = useAct()
  const [, id = '', runId, verb = ''] = /^\/workflow\/([^/]+)(?:\/runs\/([^/]+))?.*\/([^/]+)$/.exec(action.path) ?? []
  if (action.method === 'GET')
    return (
      <p class="buttons">
        <a class="button secondary" href={runHref(decodeURIComponent(id), runId)}>
          Open the run of {decodeURIComponent(id)}
        </a>
      </p>
    )
  return (
    <>
      <p class="buttons">
        <button
          type="button"
          class="secondary"
          disabled={busy}
          onClick={async () => {
            await act(() => call(action.path.slice(1), { method: 'POST' }))
            onDone()
          }}
        >
          {verb === 'retry' ? 'Try again now' : statusText(verb)}
        </button>
      </p>
      {error !== null && <ErrorMessage error={error} />}
    </>
  )
}

/** The step whose failure ended the run. */
function where(trace: Trace | null): string {
  const error = trace?.data.error
  const step =
    error &&
    trace.data.children.findLast(
      (node) => node.error !== null && node.error.message === error.message && node.error.name === error.name,
    )
  return step == null ? '' : `, in ${step.name}`
}

function Closed({ status, trace }: { status: WorkflowStatus; trace: Trace | null }) {
  const took = durationText(new Date(status.completedAt ?? 0).getTime() - new Date(status.startedAt ?? 0).getTime())
  const error = trace?.data.error ?? null
  const next = trace?.data.attributes.nextRunId
  const texts: Record<string, string> = {
    completed: `Completed in ${took}.`,
    failed: `Failed after ${took}${where(trace)}.`,
    canceled: `Canceled after ${took}.`,
    terminated: `Terminated after ${took}.`,
    timed_out: `Timed out after ${took}.`,
    continued: `Continued as a new run after ${took}.`,
  }
  const isBad = status.status === 'failed' || status.status === 'timed_out' || status.status === 'terminated'
  return (
    <section
      class={`explain ${isBad ? 'bad' : status.status === 'completed' ? 'good' : 'fine'}`}
      aria-label="How the run ended"
    >
      <p class="headline">{texts[status.status] ?? status.status}</p>
      {isBad && error !== null && (
        <p class="detail">
          <code>{error.name}</code> {error.message}
        </p>
      )}
      {typeof next === 'string' && (
        <p class="detail">
          <a href={runHref(status.workflowId, next)}>Open the next run</a>
        </p>
      )}
    </section>
  )
}
