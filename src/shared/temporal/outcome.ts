/** The status of a run and how it ended, in our words. */
import type { temporal } from '@temporalio/proto'
import { isObject } from '../lib/json.ts'
import type { Closing, Outcome, Status } from '../wire/execution.ts'
import { type TraceMeta, toTraceMeta } from '../wire/trace/trace-meta.ts'
import { WorkflowExecutionStatus as S } from './enums.ts'
import { decodeFailure, type Failure, toErrorDetails } from './failure.ts'
import type { PayloadReader } from './payload.ts'

const STATUS = new Map<number, Status>([
  [S.RUNNING, 'running'],
  [S.PAUSED, 'paused'],
  [S.COMPLETED, 'completed'],
  [S.FAILED, 'failed'],
  [S.CANCELED, 'canceled'],
  [S.TERMINATED, 'terminated'],
  [S.CONTINUED_AS_NEW, 'continued'],
  [S.TIMED_OUT, 'timed_out'],
])

// The names of the statuses in the engine's visibility store.
const WORDS: Readonly<Record<Status, string>> = {
  running: 'Running',
  paused: 'Paused',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  terminated: 'Terminated',
  continued: 'ContinuedAsNew',
  timed_out: 'TimedOut',
}

const STATUS_BY_WORD = new Map<unknown, Status>(Object.entries(WORDS).map(([status, word]) => [word, status as Status]))

/** The value of `ExecutionStatus` in visibility queries. */
export function toStatusWord(status: Status): string {
  return WORDS[status]
}

/** The status of an `ExecutionStatus`. An unknown one counts as running. */
export function fromStatusWord(word: unknown): Status {
  return STATUS_BY_WORD.get(word) ?? 'running'
}

/** An unknown status, of a newer engine, counts as running. */
export function toStatus(status: number | null | undefined): Status {
  return STATUS.get(status ?? 0) ?? 'running'
}

export type TemporalEvent = temporal.api.history.v1.IHistoryEvent

// The reason that the engine records when the request has none.
const NO_REASON = 'terminated by user via frontend'

/**
 * How a run ended, from its last events; null without a close event. `workflowId` when the output is sent to a client.
 */
export async function toClosing(
  events: readonly TemporalEvent[],
  payloads: PayloadReader,
  workflowId?: string,
): Promise<Closing | null> {
  const last = events.at(-1)
  if (last === undefined) return null
  const end = await toEnd(last, events, payloads, workflowId)
  if (end === null) return null
  const { outcome, trace = null } = end
  return { outcome, nextRunId: nextRunIdOf(last), ...(trace !== null && { trace }) }
}

interface End {
  outcome: Outcome
  trace?: TraceMeta | null
}

async function toEnd(
  event: TemporalEvent,
  events: readonly TemporalEvent[],
  payloads: PayloadReader,
  workflowId: string | undefined,
): Promise<End | null> {
  if (event.workflowExecutionCompletedEventAttributes) {
    const { result } = event.workflowExecutionCompletedEventAttributes
    const { value, ...elsewhere } = await payloads.decodeOutput(result?.payloads, workflowId)
    const { output, trace } = unwrapWorkflowOutput(value)
    return { outcome: { status: 'completed', output, ...elsewhere }, trace }
  }
  const failed = toFailed(event, events)
  if (failed !== null) {
    const { status, failure } = failed
    return { outcome: { status, error: toErrorDetails(await decodeFailure(failure, payloads)) } }
  }
  return event.workflowExecutionContinuedAsNewEventAttributes ? { outcome: { status: 'continued' } } : null
}

interface Failed {
  status: Extract<Outcome, { error: unknown }>['status']
  failure: Failure
}

/** The failure of a run that ended with one. Only that of a `failed` run is in its event. */
function toFailed(event: TemporalEvent, events: readonly TemporalEvent[]): Failed | null {
  const {
    workflowExecutionFailedEventAttributes: failed,
    workflowExecutionTimedOutEventAttributes: timedOut,
    workflowExecutionCanceledEventAttributes: canceled,
    workflowExecutionTerminatedEventAttributes: terminated,
  } = event
  if (failed) return { status: 'failed', failure: failed.failure ?? {} }
  if (timedOut) {
    return { status: 'timed_out', failure: { message: 'The workflow timed out', timeoutFailureInfo: {} } }
  }
  if (canceled) {
    const message = withReason('The workflow was canceled', cancelReason(events))
    return { status: 'canceled', failure: { message, canceledFailureInfo: { details: canceled.details ?? null } } }
  }
  if (!terminated) return null
  const { reason, details } = terminated
  const message = withReason('The workflow was terminated', reason === NO_REASON ? null : reason)
  const applicationFailureInfo = { type: 'TerminatedFailure', nonRetryable: true, details: details ?? null }
  return { status: 'terminated', failure: { message, applicationFailureInfo } }
}

/** The status of a run whose last event this is; null for an event that does not close its run. */
export function closeStatus(event: TemporalEvent): Status | null {
  if (event.workflowExecutionCompletedEventAttributes) return 'completed'
  if (event.workflowExecutionContinuedAsNewEventAttributes) return 'continued'
  return toFailed(event, [])?.status ?? null
}

/** The next run of the chain, from the close event; null for the last run. */
function nextRunIdOf(event: TemporalEvent): string | null {
  const attributes =
    event.workflowExecutionCompletedEventAttributes ??
    event.workflowExecutionFailedEventAttributes ??
    event.workflowExecutionTimedOutEventAttributes ??
    event.workflowExecutionContinuedAsNewEventAttributes
  return attributes?.newExecutionRunId || null
}

function withReason(sentence: string, reason: string | null | undefined): string {
  return reason ? `${sentence}: ${reason}` : sentence
}

function cancelReason(events: readonly TemporalEvent[]): string | null {
  const request = events.findLast((event) => event.workflowExecutionCancelRequestedEventAttributes)
  return request?.workflowExecutionCancelRequestedEventAttributes?.cause || null
}

// Workers of the older generation wrap their outputs: docs/protocol.md.
const WORKFLOW_WRAPPER = '__output_workflow_wrapper_version'
const ACTIVITY_WRAPPER = '__output_activity_wrapper_version'

interface WorkflowOutput {
  output: unknown
  /** Null when the output is not wrapped, or its wrapper does not say. */
  trace: TraceMeta | null
}

/** Unwraps the output of a workflow, if it is wrapped. */
export function unwrapWorkflowOutput(value: unknown): WorkflowOutput {
  if (!isObject(value) || !Object.hasOwn(value, WORKFLOW_WRAPPER)) return { output: value, trace: null }
  return { output: value.output ?? null, trace: toTraceMeta(value.trace) }
}

/** The output of a workflow or an activity without its wrapper; null if the wrapper holds none. */
export function unwrapOutput(value: unknown): unknown {
  if (isObject(value) && Object.hasOwn(value, ACTIVITY_WRAPPER)) return value.output ?? null
  return unwrapWorkflowOutput(value).output
}
