import type { temporal } from '@temporalio/proto'
import type { Closing, ErrorDetails, Outcome } from '../protocol/execution.ts'
import { unwrapWorkflowOutput } from '../protocol/older-wrapper.ts'
import type { TraceMeta } from '../protocol/trace/trace-meta.ts'
import { decodeFailure, toErrorDetails } from './failure.ts'
import type { PayloadReader } from './payload-reader.ts'

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent

// What the engine writes down when it is given none.
const NO_REASON = 'terminated by user via frontend'

/** How a run ended, from its last events; null when they hold no close event. `workflowId` where its output is an answer. */
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
  return { outcome, nextRunId: successorOf(last), ...(trace !== null && { trace }) }
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

/** Of what the engine, not a worker, has ended. */
function toOutcome(event: HistoryEvent, events: readonly HistoryEvent[]): Outcome | null {
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
