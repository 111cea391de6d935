import type { temporal } from '@temporalio/proto'
import type { Closing, ErrorDetails, Outcome } from '../domain/execution.ts'
import { fromArguments } from '../domain/from-arguments.ts'
import { revealed, toErrorDetails } from './failure.ts'
import type { Payloads } from './payload.ts'

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent

// What the engine writes down when it is given none.
const NO_REASON = 'terminated by user via frontend'

/** How a run ended, from its last events; null when they hold no close event. */
export async function toClosing(events: readonly HistoryEvent[], payloads: Pick<Payloads, 'decode'>): Promise<Closing | null> {
  const last = events.at(-1)
  if (last === undefined) return null
  const outcome = await toOutcome(last, events, payloads)
  return outcome === null ? null : { outcome, nextRunId: successorOf(last) }
}

async function toOutcome(
  event: HistoryEvent,
  events: readonly HistoryEvent[],
  payloads: Pick<Payloads, 'decode'>,
): Promise<Outcome | null> {
  if (event.workflowExecutionCompletedEventAttributes) {
    const values = await payloads.decode(event.workflowExecutionCompletedEventAttributes.result?.payloads)
    return { status: 'completed', output: fromArguments(values) }
  }
  if (event.workflowExecutionFailedEventAttributes) {
    const { failure } = event.workflowExecutionFailedEventAttributes
    return { status: 'failed', error: toErrorDetails(await revealed(failure ?? {}, payloads)) }
  }
  if (event.workflowExecutionTimedOutEventAttributes) {
    return { status: 'timed_out', error: ended('TimeoutFailure', 'The workflow timed out', null) }
  }
  if (event.workflowExecutionCanceledEventAttributes) {
    return { status: 'canceled', error: ended('CanceledFailure', 'The workflow was canceled', cancelReason(events)) }
  }
  if (event.workflowExecutionTerminatedEventAttributes) {
    const { reason } = event.workflowExecutionTerminatedEventAttributes
    const given = reason === NO_REASON ? null : (reason ?? null)
    return { status: 'terminated', error: ended('TerminatedFailure', 'The workflow was terminated', given) }
  }
  return event.workflowExecutionContinuedAsNewEventAttributes ? { status: 'continued' } : null
}

/** The run that carries the work on, as the last event of a closed run says; null at the end of a chain. */
export function successorOf(event: HistoryEvent): string | null {
  const attributes =
    event.workflowExecutionCompletedEventAttributes ??
    event.workflowExecutionFailedEventAttributes ??
    event.workflowExecutionTimedOutEventAttributes ??
    event.workflowExecutionContinuedAsNewEventAttributes
  return attributes?.newExecutionRunId || null
}

function ended(name: string, sentence: string, reason: string | null): ErrorDetails {
  const message = reason ? `${sentence}: ${reason}` : sentence
  return { name, message, retryable: name === 'TimeoutFailure', activityId: null, cause: null }
}

function cancelReason(events: readonly HistoryEvent[]): string | null {
  const request = events.findLast((event) => event.workflowExecutionCancelRequestedEventAttributes)
  return request?.workflowExecutionCancelRequestedEventAttributes?.cause || null
}
