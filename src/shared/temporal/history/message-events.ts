import type { temporal } from '@temporalio/proto'
import type { TemporalEvent } from '../outcome.ts'
import { beginNode, type EventTable, endNode, type HistoryState, nodeId } from './history-state.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'

/** Signals, which begin and end with one event, and updates. */
export const messageEvents: EventTable = {
  workflowExecutionSignaledEventAttributes({ signalName, input }, event, state) {
    const node = { id: nodeId(state, 'signal', event), kind: 'signal', name: signalName }
    return [
      ...beginNode(state, event, node, { input: input?.payloads ?? null }),
      ...endNode(state, event, event.eventId),
    ]
  },

  // Recorded when a reset carries an update over; the accepted event then has no request.
  workflowExecutionUpdateAdmittedEventAttributes: ({ request }, event, state) => beginUpdate(state, event, request),

  workflowExecutionUpdateAcceptedEventAttributes({ acceptedRequest, protocolInstanceId }, event, state) {
    if (acceptedRequest) return beginUpdate(state, event, acceptedRequest)
    const admitted = [...state.open.values()].find(({ id }) => id === updateNodeId(state, protocolInstanceId))
    if (admitted !== undefined) state.open.set(String(event.eventId), admitted)
    return []
  },

  workflowExecutionUpdateCompletedEventAttributes({ acceptedEventId, outcome }, event, state) {
    const { success, failure } = outcome ?? {}
    return endNode(state, event, acceptedEventId, failure ? { failure } : { output: success?.payloads ?? null })
  },
}

function beginUpdate(
  state: HistoryState,
  event: TemporalEvent,
  request: temporal.api.update.v1.IRequest | null | undefined,
): UnresolvedEntry[] {
  const { input, meta } = request ?? {}
  const node = { id: updateNodeId(state, meta?.updateId), kind: 'update', name: input?.name }
  return beginNode(state, event, node, {
    input: input?.args?.payloads ?? null,
    attributes: { updateId: meta?.updateId },
  })
}

function updateNodeId({ run }: HistoryState, updateId: string | null | undefined): string {
  return `${run.runId}:update:${updateId}`
}
