import { began, CANCELED, type EventTable, ended, idOf } from './history-state.ts'

export const nexusEvents: EventTable = {
  nexusOperationScheduledEventAttributes({ endpoint, service, operation, input }, event, story) {
    const what = { id: idOf(story, 'nexus', event), kind: 'nexus_operation', name: `${service}/${operation}` }
    return began(story, event, what, { input: input ? [input] : null, attributes: { endpoint, service, operation } })
  },

  nexusOperationCompletedEventAttributes: ({ scheduledEventId, result }, event, story) =>
    ended(story, event, scheduledEventId, { output: result ? [result] : null }),
  nexusOperationFailedEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    ended(story, event, scheduledEventId, { failure: failure ?? null }),
  nexusOperationTimedOutEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    ended(story, event, scheduledEventId, { failure: failure ?? null }),
  nexusOperationCanceledEventAttributes: ({ scheduledEventId }, event, story) =>
    ended(story, event, scheduledEventId, CANCELED),
}
