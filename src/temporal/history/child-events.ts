import { beginNode, CANCELED, type EventTable, endNode, engineError, eventTime, nodeId } from './history-state.ts'

/** Child workflows, as far as the history of their parent records them. */
export const childEvents: EventTable = {
  startChildWorkflowExecutionInitiatedEventAttributes({ workflowId, workflowType, taskQueue, input }, event, state) {
    const node = { id: nodeId(state, 'child', event), kind: 'child_workflow', name: workflowType?.name }
    return beginNode(state, event, node, {
      input: input?.payloads ?? null,
      attributes: { workflowId, ...(taskQueue?.name && { catalog: taskQueue.name }) },
    })
  },

  childWorkflowExecutionStartedEventAttributes({ initiatedEventId, workflowExecution }, event, { open }) {
    const node = open.get(String(initiatedEventId))
    return node === undefined
      ? []
      : [{ ...node, at: eventTime(event), phase: 'began', attributes: { runId: workflowExecution?.runId } }]
  },

  startChildWorkflowExecutionFailedEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(
      state,
      event,
      initiatedEventId,
      engineError('ChildWorkflowNotStarted', 'The child workflow could not be started'),
    ),

  childWorkflowExecutionCompletedEventAttributes: ({ initiatedEventId, result }, event, state) =>
    endNode(state, event, initiatedEventId, { output: result?.payloads ?? null }),
  childWorkflowExecutionFailedEventAttributes: ({ initiatedEventId, failure }, event, state) =>
    endNode(state, event, initiatedEventId, { failure: failure ?? null }),
  childWorkflowExecutionCanceledEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(state, event, initiatedEventId, CANCELED),
  childWorkflowExecutionTimedOutEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(state, event, initiatedEventId, engineError('TimeoutFailure', 'The child workflow timed out')),
  childWorkflowExecutionTerminatedEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(state, event, initiatedEventId, engineError('TerminatedFailure', 'The child workflow was terminated')),
}
