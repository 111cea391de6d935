import type { temporal } from '@temporalio/proto'
import type { HistoryEvent } from '../outcome.ts'
import { began, type EventTable, ended, idOf, type Story } from './history-state.ts'
import type { Draft } from './unresolved-entry.ts'

/** Signals, which take no time, and updates. */
export const messageEvents: EventTable = {
  workflowExecutionSignaledEventAttributes({ signalName, input }, event, story) {
    const what = { id: idOf(story, 'signal', event), kind: 'signal', name: signalName }
    return [...began(story, event, what, { input: input?.payloads ?? null }), ...ended(story, event, event.eventId)]
  },

  // Written where a reset has carried an update over; its acceptance then does not repeat the request.
  workflowExecutionUpdateAdmittedEventAttributes: ({ request }, event, story) => updateBegan(story, event, request),

  workflowExecutionUpdateAcceptedEventAttributes({ acceptedRequest, protocolInstanceId }, event, story) {
    if (acceptedRequest) return updateBegan(story, event, acceptedRequest)
    const admitted = [...story.open.values()].find(({ id }) => id === idOfUpdate(story, protocolInstanceId))
    if (admitted !== undefined) story.open.set(String(event.eventId), admitted)
    return []
  },

  workflowExecutionUpdateCompletedEventAttributes({ acceptedEventId, outcome }, event, story) {
    const { success, failure } = outcome ?? {}
    return ended(story, event, acceptedEventId, failure ? { failure } : { output: success?.payloads ?? null })
  },
}

function updateBegan(
  story: Story,
  event: HistoryEvent,
  request: temporal.api.update.v1.IRequest | null | undefined,
): Draft[] {
  const { input, meta } = request ?? {}
  const what = { id: idOfUpdate(story, meta?.updateId), kind: 'update', name: input?.name }
  return began(story, event, what, { input: input?.args?.payloads ?? null, attributes: { updateId: meta?.updateId } })
}

function idOfUpdate({ run }: Story, updateId: string | null | undefined): string {
  return `${run.runId}:update:${updateId}`
}
