import { toDurationMs } from '../time.ts'
import { began, CANCELED, type EventTable, ended, idOf } from './history-state.ts'

export const timerEvents: EventTable = {
  timerStartedEventAttributes({ timerId, startToFireTimeout }, event, story) {
    const durationMs = toDurationMs(startToFireTimeout)
    return began(
      story,
      event,
      { id: idOf(story, 'timer', event), kind: 'timer', name: timerId },
      { attributes: { durationMs } },
    )
  },

  timerFiredEventAttributes: ({ startedEventId }, event, story) => ended(story, event, startedEventId),
  timerCanceledEventAttributes: ({ startedEventId }, event, story) => ended(story, event, startedEventId, CANCELED),
}
