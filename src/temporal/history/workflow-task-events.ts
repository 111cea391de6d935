import { WorkflowTaskFailedCause } from '../enums.ts'
import { failureOfTask } from '../failed-task.ts'
import type { HistoryEvent } from '../outcome.ts'
import { type EventTable, idOf, type Story, timeOf } from './history-state.ts'
import type { Draft } from './unresolved-entry.ts'
import { workflow } from './workflow-events.ts'

/** Workflow tasks that failed: all failures until one is completed are one node, open until then. Others are not told. */
export const workflowTaskEvents: EventTable = {
  workflowTaskScheduledEventAttributes({ attempt }, event, { task }) {
    task.scheduledAt = timeOf(event)
    task.attempt = attempt ?? 1
    return []
  },

  workflowTaskStartedEventAttributes(_told, event, { task }) {
    task.startedAt = timeOf(event)
    return []
  },

  workflowTaskFailedEventAttributes({ baseRunId }, event, story) {
    if (!baseRunId) return failed(event, story)
    // How a reset appears in the run that it made: all before it is a copy of the base run's history.
    const reset: Draft = {
      ...workflow(story),
      at: timeOf(event),
      phase: 'began',
      attributes: { previousRunId: baseRunId },
    }
    return [...noLongerFailing(event, story), reset]
  },

  workflowTaskTimedOutEventAttributes: (_told, event, story) => failed(event, story),

  workflowTaskCompletedEventAttributes(_told, event, story) {
    const { failing, attempt } = story.task
    if (failing !== null) failing.attempts = Math.max(attempt, failing.attempts + 1)
    return noLongerFailing(event, story)
  },
}

function failed(event: HistoryEvent, story: Story): Draft[] {
  const failedTask = failureOfTask(event)
  if (failedTask === null) return []
  const { task, run } = story
  // SDKs let later attempts time out in silence: what a worker has said counts more.
  const saysMore = task.failing === null || event.workflowTaskFailedEventAttributes != null
  const at = task.failing === null ? (task.scheduledAt ?? timeOf(event)) : timeOf(event)
  const node = {
    id: idOf(story, 'workflow_task', event),
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
      ...(saysMore && { failedTask }),
      attributes: { attempts: task.failing.attempts },
    },
  ]
}

function noLongerFailing(event: HistoryEvent, { task }: Story): Draft[] {
  const { failing } = task
  task.failing = null
  return failing === null
    ? []
    : [{ ...failing.node, at: timeOf(event), phase: 'ended', attributes: { attempts: failing.attempts } }]
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

/** The first cause of a node; each of the many others is a command that the engine does not take. */
function nameOf({ workflowTaskFailedEventAttributes: told }: HistoryEvent): string {
  return told ? (NAMES.get(told.cause) ?? 'invalid command') : 'timeout'
}
