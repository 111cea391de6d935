/** What a workflow waits for besides its own steps: child workflows, Nexus operations and timers. */
import { toDurationMs } from '../time.ts'
import { beginNode, canceled, type EventTable, endNode, engineError, eventTime, nodeId } from './history-state.ts'

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
  childWorkflowExecutionCanceledEventAttributes: ({ initiatedEventId, details }, event, state) =>
    endNode(state, event, initiatedEventId, canceled(details)),
  childWorkflowExecutionTimedOutEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(state, event, initiatedEventId, engineError('TimeoutFailure', 'The child workflow timed out')),
  childWorkflowExecutionTerminatedEventAttributes: ({ initiatedEventId }, event, state) =>
    endNode(state, event, initiatedEventId, engineError('TerminatedFailure', 'The child workflow was terminated')),
}

export const nexusEvents: EventTable = {
  nexusOperationScheduledEventAttributes({ endpoint, service, operation, input }, event, state) {
    const node = { id: nodeId(state, 'nexus', event), kind: 'nexus_operation', name: `${service}/${operation}` }
    return beginNode(state, event, node, {
      input: input ? [input] : null,
      attributes: { endpoint, service, operation },
    })
  },

  nexusOperationCompletedEventAttributes: ({ scheduledEventId, result }, event, state) =>
    endNode(state, event, scheduledEventId, { output: result ? [result] : null }),
  nexusOperationFailedEventAttributes: ({ scheduledEventId, failure }, event, state) =>
    endNode(state, event, scheduledEventId, { failure: failure ?? null }),
  nexusOperationTimedOutEventAttributes: ({ scheduledEventId, failure }, event, state) =>
    endNode(state, event, scheduledEventId, { failure: failure ?? null }),
  nexusOperationCanceledEventAttributes: ({ scheduledEventId, failure }, event, state) =>
    endNode(state, event, scheduledEventId, failure ? { failure } : canceled()),
}

export const timerEvents: EventTable = {
  timerStartedEventAttributes({ timerId, startToFireTimeout }, event, state) {
    const durationMs = toDurationMs(startToFireTimeout)
    return beginNode(
      state,
      event,
      { id: nodeId(state, 'timer', event), kind: 'timer', name: timerId },
      { attributes: { durationMs } },
    )
  },

  timerFiredEventAttributes: ({ startedEventId }, event, state) => endNode(state, event, startedEventId),
  // A deadline that was not needed is no error.
  timerCanceledEventAttributes: ({ startedEventId }, event, state) =>
    endNode(state, event, startedEventId, { attributes: { canceled: true } }),
}
