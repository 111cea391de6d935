import { beginNode, CANCELED, type EventTable, endNode, nodeId } from './history-state.ts'

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
  nexusOperationCanceledEventAttributes: ({ scheduledEventId }, event, state) =>
    endNode(state, event, scheduledEventId, CANCELED),
}
