/** The status of a run and how it ended, in our words. */

import type { temporal } from '@temporalio/proto'
import type { Closing, ErrorDetails, Outcome, Status } from '../protocol/execution.ts'
import { unwrapWorkflowOutput } from '../protocol/older-wrapper.ts'
import type { TraceMeta } from '../protocol/trace/trace-meta.ts'
import { WorkflowExecutionStatus as S } from './enums.ts'
import { decodeFailure, toErrorDetails } from './failure.ts'
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

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent

// The reason that the engine records when the request has none.
const NO_REASON = 'terminated by user via frontend'

/**
 * How a run ended, from its last events; null without a close event. `workflowId` when the output is sent to a client.
 */
export async function toClosing(
  events: readonly HistoryEvent[],
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
  event: HistoryEvent,
  events: readonly HistoryEvent[],
  payloads: PayloadReader,
  workflowId: string | undefined,
): Promise<End | null> {
  if (event.workflowExecutionCompletedEventAttributes) {
    const { result } = event.workflowExecutionCompletedEventAttributes
    const { value, ...elsewhere } = await payloads.decodeOutput(result?.payloads, workflowId)
    const { output, trace } = unwrapWorkflowOutput(value)
    return { outcome: { status: 'completed', output, ...elsewhere }, trace }
  }
  if (event.workflowExecutionFailedEventAttributes) {
    const failure = event.workflowExecutionFailedEventAttributes.failure ?? {}
    return { outcome: { status: 'failed', error: toErrorDetails(await decodeFailure(failure, payloads)) } }
  }
  const outcome = toOutcome(event, events)
  return outcome === null ? null : { outcome }
}

/** For runs that the engine ended, not a worker. */
function toOutcome(event: HistoryEvent, events: readonly HistoryEvent[]): Outcome | null {
  if (event.workflowExecutionTimedOutEventAttributes) {
    return { status: 'timed_out', error: closingError('TimeoutFailure', 'The workflow timed out', null) }
  }
  if (event.workflowExecutionCanceledEventAttributes) {
    return {
      status: 'canceled',
      error: closingError('CanceledFailure', 'The workflow was canceled', cancelReason(events)),
    }
  }
  if (event.workflowExecutionTerminatedEventAttributes) {
    const { reason } = event.workflowExecutionTerminatedEventAttributes
    const clientReason = reason === NO_REASON ? null : (reason ?? null)
    return {
      status: 'terminated',
      error: closingError('TerminatedFailure', 'The workflow was terminated', clientReason),
    }
  }
  return event.workflowExecutionContinuedAsNewEventAttributes ? { status: 'continued' } : null
}

/** The status of a run whose last event this is; null for an event that does not close its run. */
export function closeStatus(event: HistoryEvent): Status | null {
  if (event.workflowExecutionCompletedEventAttributes) return 'completed'
  if (event.workflowExecutionFailedEventAttributes) return 'failed'
  return toOutcome(event, [])?.status ?? null
}

/** The next run of the chain, from the close event; null for the last run. */
function nextRunIdOf(event: HistoryEvent): string | null {
  const attributes =
    event.workflowExecutionCompletedEventAttributes ??
    event.workflowExecutionFailedEventAttributes ??
    event.workflowExecutionTimedOutEventAttributes ??
    event.workflowExecutionContinuedAsNewEventAttributes
  return attributes?.newExecutionRunId || null
}

function closingError(name: string, sentence: string, reason: string | null): ErrorDetails {
  const message = reason ? `${sentence}: ${reason}` : sentence
  return { name, message, retryable: name === 'TimeoutFailure', activityId: null, details: [], cause: null }
}

function cancelReason(events: readonly HistoryEvent[]): string | null {
  const request = events.findLast((event) => event.workflowExecutionCancelRequestedEventAttributes)
  return request?.workflowExecutionCancelRequestedEventAttributes?.cause || null
}
