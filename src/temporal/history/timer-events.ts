import { toDurationMs } from '../time.ts'
import { beginNode, CANCELED, type EventTable, endNode, nodeId } from './history-state.ts'

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
  timerCanceledEventAttributes: ({ startedEventId }, event, state) => endNode(state, event, startedEventId, CANCELED),
}
