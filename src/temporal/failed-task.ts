import type { ErrorCause } from '../protocol/execution.ts'
import { TimeoutType, WorkflowTaskFailedCause } from './enums.ts'
import { decodeFailure, type Failure, toErrorCause } from './failure.ts'
import type { HistoryEvent } from './outcome.ts'
import type { PayloadReader } from './payload-reader.ts'
import { withoutMachine } from './without-machine.ts'

// With these the engine takes a task back, of a worker that has done nothing wrong.
const TAKEN_BACK: ReadonlySet<unknown> = new Set([
  WorkflowTaskFailedCause.UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.RESET_STICKY_TASK_QUEUE,
  WorkflowTaskFailedCause.FORCE_CLOSE_COMMAND,
  WorkflowTaskFailedCause.FAILOVER_CLOSE_COMMAND,
  WorkflowTaskFailedCause.RESET_WORKFLOW,
  WorkflowTaskFailedCause.UNHANDLED_UPDATE,
  WorkflowTaskFailedCause.WORKFLOW_PAUSE_REQUESTED_BEFORE_TASK_STARTED,
])

const TIMED_OUT: Failure = { message: 'no answer to the workflow task in time', timeoutFailureInfo: {} }

/** How a workflow task failed in this event; null when it did not, or by no fault of the worker's. */
export function failureOfTask(event: HistoryEvent): Failure | null {
  const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
  if (failed) return TAKEN_BACK.has(failed.cause) ? null : (failed.failure ?? {})
  // A task that no worker has begun has not failed.
  return timedOut?.timeoutType === TimeoutType.START_TO_CLOSE ? TIMED_OUT : null
}

/** In the worker's words, without what they tell of its machine. */
export async function toTaskError(failure: Failure, payloads: Pick<PayloadReader, 'decode'>): Promise<ErrorCause> {
  return withoutMachines(toErrorCause(await decodeFailure(failure, payloads)))
}

function withoutMachines({ name, message, cause }: ErrorCause): ErrorCause {
  return { name, message: withoutMachine(message) || 'no reason given', cause: cause && withoutMachines(cause) }
}
