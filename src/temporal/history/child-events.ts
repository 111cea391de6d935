import { began, CANCELED, type EventTable, ended, idOf, named, timeOf } from './history-state.ts'

/** Child workflows as their parent sees them; their own story is in their own history. */
export const childEvents: EventTable = {
  startChildWorkflowExecutionInitiatedEventAttributes({ workflowId, workflowType, taskQueue, input }, event, story) {
    const what = { id: idOf(story, 'child', event), kind: 'child_workflow', name: workflowType?.name }
    return began(story, event, what, {
      input: input?.payloads ?? null,
      attributes: { workflowId, ...(taskQueue?.name && { catalog: taskQueue.name }) },
    })
  },

  childWorkflowExecutionStartedEventAttributes({ initiatedEventId, workflowExecution }, event, { open }) {
    const what = open.get(String(initiatedEventId))
    return what === undefined
      ? []
      : [{ ...what, at: timeOf(event), phase: 'began', attributes: { runId: workflowExecution?.runId } }]
  },

  startChildWorkflowExecutionFailedEventAttributes: ({ initiatedEventId }, event, story) =>
    ended(story, event, initiatedEventId, named('ChildWorkflowNotStarted', 'The child workflow could not be started')),

  childWorkflowExecutionCompletedEventAttributes: ({ initiatedEventId, result }, event, story) =>
    ended(story, event, initiatedEventId, { output: result?.payloads ?? null }),
  childWorkflowExecutionFailedEventAttributes: ({ initiatedEventId, failure }, event, story) =>
    ended(story, event, initiatedEventId, { failure: failure ?? null }),
  childWorkflowExecutionCanceledEventAttributes: ({ initiatedEventId }, event, story) =>
    ended(story, event, initiatedEventId, CANCELED),
  childWorkflowExecutionTimedOutEventAttributes: ({ initiatedEventId }, event, story) =>
    ended(story, event, initiatedEventId, named('TimeoutFailure', 'The child workflow timed out')),
  childWorkflowExecutionTerminatedEventAttributes: ({ initiatedEventId }, event, story) =>
    ended(story, event, initiatedEventId, named('TerminatedFailure', 'The child workflow was terminated')),
}
