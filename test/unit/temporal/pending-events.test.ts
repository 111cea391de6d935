import { describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../../src/temporal/outcome.ts'
import { openTimers } from '../../../src/temporal/pending-events.ts'

/** An event at second `eventId`. */
function event(eventId: number, attributes: object): HistoryEvent {
  return { eventId, eventTime: { seconds: eventId, nanos: 0 }, ...attributes } as unknown as HistoryEvent
}

const startedTimer = (eventId: number, timerId: string, seconds: number) =>
  event(eventId, { timerStartedEventAttributes: { timerId, startToFireTimeout: { seconds } } })
const delayedStart = event(1, {
  workflowExecutionStartedEventAttributes: { firstWorkflowTaskBackoff: { seconds: 60 } },
})

describe('openTimers', () => {
  test('leaves out those that have fired or were canceled; the next one is first', () => {
    const oldestFirst = [
      startedTimer(1, 'late', 900),
      startedTimer(2, 'fired', 1),
      startedTimer(3, 'canceled', 900),
      startedTimer(4, 'soon', 10),
      event(5, { timerFiredEventAttributes: { timerId: 'fired', startedEventId: 2 } }),
      event(6, { timerCanceledEventAttributes: { timerId: 'canceled', startedEventId: 3 } }),
    ]

    expect(openTimers(oldestFirst.toReversed())).toEqual([
      { timerId: 'soon', since: new Date(4000), firesAt: new Date(14_000) },
      { timerId: 'late', since: new Date(1000), firesAt: new Date(901_000) },
    ])
  })

  test('has the delay before the first workflow task, until that is scheduled', () => {
    const signaled = event(2, { workflowExecutionSignaledEventAttributes: {} })
    const scheduled = event(3, { workflowTaskScheduledEventAttributes: {} })

    expect(openTimers([signaled, delayedStart])).toEqual([
      { timerId: null, since: new Date(1000), firesAt: new Date(61_000) },
    ])
    expect(openTimers([scheduled, signaled, delayedStart])).toEqual([])
    expect(openTimers([])).toEqual([])
  })
})
