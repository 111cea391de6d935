import { describe, expect, test } from 'vitest'
import type { TemporalEvent } from '../../../../src/shared/temporal/outcome.ts'
import { dueSince, openTimers, waitingSignals } from '../../../../src/shared/temporal/pending-events.ts'

/** An event at second `eventId`. */
function event(eventId: number, attributes: object): TemporalEvent {
  return { eventId, eventTime: { seconds: eventId, nanos: 0 }, ...attributes } as unknown as TemporalEvent
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

test('dueSince: the first time that the task was scheduled; signals of earlier tasks do not wait', () => {
  const scheduled = (eventId: number) => event(eventId, { workflowTaskScheduledEventAttributes: {} })
  const signal = (eventId: number, signalName: string) =>
    event(eventId, { workflowExecutionSignaledEventAttributes: { signalName } })
  const handled = [signal(1, 'old'), scheduled(2), event(3, { workflowTaskCompletedEventAttributes: {} })]
  const waiting = [signal(4, 'b'), scheduled(5), event(6, { workflowTaskTimedOutEventAttributes: {} }), scheduled(7)]
  const events = [...handled, ...waiting, signal(8, 'a'), signal(9, 'b')].toReversed()

  expect([dueSince(events), waitingSignals(events)]).toEqual([new Date(5000), ['b', 'a']])
  expect([dueSince(handled.toReversed()), waitingSignals(handled.toReversed())]).toEqual([null, []])
})
