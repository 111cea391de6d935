import type { ErrorCause } from '../wire/execution.ts'
import { TimeoutType, WorkflowTaskFailedCause } from './enums.ts'
import { decodeFailure, type Failure, toErrorCause } from './failure.ts'
import type { TemporalEvent } from './outcome.ts'
import type { PayloadReader } from './payload.ts'
import { redactMachineDetails } from './redact-machine-details.ts'

// The engine fails a task with these causes although its worker did nothing wrong.
const NOT_CAUSED_BY_WORKER: ReadonlySet<unknown> = new Set([
  WorkflowTaskFailedCause.UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.RESET_STICKY_TASK_QUEUE,
  WorkflowTaskFailedCause.FORCE_CLOSE_COMMAND,
  WorkflowTaskFailedCause.FAILOVER_CLOSE_COMMAND,
  WorkflowTaskFailedCause.RESET_WORKFLOW,
  WorkflowTaskFailedCause.UNHANDLED_UPDATE,
  WorkflowTaskFailedCause.WORKFLOW_PAUSE_REQUESTED_BEFORE_TASK_STARTED,
])

// The Java SDK wraps an error of the workflow's code twice, in errors that describe only the SDK's own state machines.
const JAVA_TASK_ERROR = 'io.temporal.internal.statemachines.InternalWorkflowTaskException'
const JAVA_STATE_ERROR = /^\w+: failure executing \S+, transition history is \[/

const TIMED_OUT: Failure = { message: 'the worker did not complete the workflow task in time', timeoutFailureInfo: {} }

/** The failure of a workflow task; null when the event is not one, or the worker did not cause it. */
export function workflowTaskFailure(event: TemporalEvent): Failure | null {
  const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: timedOut } = event
  if (failed) return NOT_CAUSED_BY_WORKER.has(failed.cause) ? null : (failed.failure ?? {})
  // A task that no worker has started has not failed.
  return timedOut?.timeoutType === TimeoutType.START_TO_CLOSE ? TIMED_OUT : null
}

/**
 * The failures of the last workflow task that its worker caused, latest first; null if the engine has closed the task
 * for a reason of its own. `events` start with the latest one.
 */
export function failuresOfLastTask(events: readonly TemporalEvent[]): TemporalEvent[] | null {
  const completedAt = events.findIndex((event) => event.workflowTaskCompletedEventAttributes)
  const ended = events
    .slice(0, completedAt === -1 ? events.length : completedAt)
    .filter((event) => event.workflowTaskFailedEventAttributes || event.workflowTaskTimedOutEventAttributes)
  const failed = ended.filter((event) => workflowTaskFailure(event) !== null)
  return failed.length === 0 && ended.length > 0 ? null : failed
}

/** What the worker has reported. SDKs report only the first failure; later attempts end with a timeout. */
export function reportedFailure(failures: readonly TemporalEvent[]): Failure {
  const latest = failures.find((event) => event.workflowTaskFailedEventAttributes) ?? failures[0]
  return (latest && workflowTaskFailure(latest)) ?? {}
}

/** The worker's message, without details of its machine and without values that its code has added. */
export async function toTaskError(failure: Failure, payloads: Pick<PayloadReader, 'decode'>): Promise<ErrorCause> {
  return redactCauses(withoutWrappers(toErrorCause(await decodeFailure(failure, payloads))))
}

function withoutWrappers(error: ErrorCause): ErrorCause {
  const isWrapper = error.name === JAVA_TASK_ERROR || JAVA_STATE_ERROR.test(error.message)
  return isWrapper && error.cause ? withoutWrappers(error.cause) : error
}

function redactCauses({ name, message, cause }: ErrorCause): ErrorCause {
  return {
    name,
    message: redactMachineDetails(message) || 'no reason given',
    details: [],
    cause: cause && redactCauses(cause),
  }
}
