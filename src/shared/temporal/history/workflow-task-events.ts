import { WorkflowTaskFailedCause } from '../enums.ts'
import { workflowTaskFailure } from '../failed-task.ts'
import type { TemporalEvent } from '../outcome.ts'
import { type EventTable, eventTime, type HistoryState, nodeId } from './history-state.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'
import { workflowNode } from './workflow-events.ts'

/** Workflow tasks that failed. All failures until a task completes are one node. Tasks that succeed are not shown. */
export const workflowTaskEvents: EventTable = {
  workflowTaskScheduledEventAttributes({ attempt }, event, { task }) {
    task.scheduledAt = eventTime(event)
    task.attempt = attempt ?? 1
    return []
  },

  workflowTaskStartedEventAttributes(_attributes, event, { task }) {
    task.startedAt = eventTime(event)
    return []
  },

  workflowTaskFailedEventAttributes({ baseRunId }, event, state) {
    if (!baseRunId) return taskFailed(event, state)
    // A reset: the events before this one are a copy of the base run's history.
    const reset: UnresolvedEntry = {
      ...workflowNode(state),
      at: eventTime(event),
      phase: 'began',
      attributes: { previousRunId: baseRunId },
    }
    return [...endFailingTask(event, state), reset]
  },

  workflowTaskTimedOutEventAttributes: (_attributes, event, state) => taskFailed(event, state),

  workflowTaskCompletedEventAttributes(_attributes, event, state) {
    const { failing, attempt } = state.task
    if (failing !== null) failing.attempts = Math.max(attempt, failing.attempts + 1)
    return endFailingTask(event, state)
  },
}

function taskFailed(event: TemporalEvent, state: HistoryState): UnresolvedEntry[] {
  const failedTask = workflowTaskFailure(event)
  if (failedTask === null) return []
  const { task, run } = state
  // SDKs let later attempts time out without a message: a failure that a worker reported is kept.
  const isReported = task.failing === null || event.workflowTaskFailedEventAttributes != null
  const at = task.failing === null ? (task.scheduledAt ?? eventTime(event)) : eventTime(event)
  const node = {
    id: nodeId(state, 'workflow_task', event),
    parentId: run.runId,
    kind: 'workflow_task',
    name: nameOf(event),
    at,
  }
  task.failing ??= { node, attempts: 0 }
  task.failing.attempts = Math.max(task.attempt, task.failing.attempts + 1)
  return [
    {
      ...task.failing.node,
      at,
      phase: 'began',
      ...(isReported && { failedTask }),
      attributes: { attempts: task.failing.attempts },
    },
  ]
}

function endFailingTask(event: TemporalEvent, { task }: HistoryState): UnresolvedEntry[] {
  const { failing } = task
  task.failing = null
  return failing === null
    ? []
    : [{ ...failing.node, at: eventTime(event), phase: 'ended', attributes: { attempts: failing.attempts } }]
}

const NAMES: ReadonlyMap<unknown, string> = new Map([
  [WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE, 'unhandled failure'],
  [WorkflowTaskFailedCause.BAD_BINARY, 'bad build'],
  [WorkflowTaskFailedCause.NON_DETERMINISTIC_ERROR, 'non-determinism'],
  [WorkflowTaskFailedCause.GRPC_MESSAGE_TOO_LARGE, 'too large'],
  [WorkflowTaskFailedCause.PAYLOADS_TOO_LARGE, 'too large'],
  [WorkflowTaskFailedCause.EXTERNAL_STORAGE_FAILURE, 'external storage failure'],
  [WorkflowTaskFailedCause.REQUEST_TOO_LARGE, 'too large'],
])

/** A name for the cause. Each of the many causes that are not in the table is a command that the engine rejects. */
function nameOf({ workflowTaskFailedEventAttributes: failed }: TemporalEvent): string {
  return failed ? (NAMES.get(failed.cause) ?? 'invalid command') : 'timeout'
}
