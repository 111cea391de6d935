import type { temporal } from '@temporalio/proto'
import { expect, test } from 'vitest'
import { createResetHistory } from '../../../../../src/shared/temporal/history/reset-point.ts'

type Event = temporal.api.history.v1.IHistoryEvent

/** Events with ids from 1 on. */
function historyOf(...events: object[]) {
  const history = createResetHistory()
  const numbered = events.map((event, index) => ({ ...event, eventId: index + 1 }) as unknown as Event)
  // As two pages.
  history.add(numbered.slice(0, 3))
  history.add(numbered.slice(3))
  return history
}

const other = {}
const taskCompleted = { workflowTaskCompletedEventAttributes: {} }
const taskFailed = { workflowTaskFailedEventAttributes: {} }
const taskTimedOut = { workflowTaskTimedOutEventAttributes: {} }
const scheduled = (name: string) => ({ activityTaskScheduledEventAttributes: { activityType: { name } } })
const completed = (scheduledEventId: number) => ({ activityTaskCompletedEventAttributes: { scheduledEventId } })
const failed = (scheduledEventId: number) => ({ activityTaskFailedEventAttributes: { scheduledEventId } })

function localMarker(name: string, failure?: object) {
  const data = new TextEncoder().encode(JSON.stringify({ activity_id: '1', activity_type: name }))
  const details = { data: { payloads: [{ data }] } }
  return { markerRecordedEventAttributes: { markerName: 'core_local_activity', details, ...(failure && { failure }) } }
}

test('reset point: is the end of the first workflow task after the step, or at the event', () => {
  const history = historyOf(other, taskCompleted, scheduled('a'), completed(3), other, taskFailed, taskCompleted)

  expect(history.completionOf('a')).toBe(4)
  expect([1, 2, 3, 4, 6, 7, 8].map(history.pointAfter)).toEqual([2, 2, 6, 6, 6, 7, null])
  expect(historyOf(other, taskTimedOut).pointAfter(1)).toBe(2)
})

test('reset point: of several steps with one name the one that completed last counts', () => {
  const history = historyOf(scheduled('a'), scheduled('a'), scheduled('b'), completed(2), completed(1), failed(3))

  const facts = [history.completionOf('a'), history.completionOf('b'), history.completionOf('toString')]
  expect(facts).toEqual([5, null, null])
  expect(history.stepNames()).toEqual(['a', 'b'])
})

test('reset point: steps that close later run again, each name once, in the order in which they were scheduled', () => {
  const history = historyOf(
    scheduled('done'),
    scheduled('open'),
    scheduled('failed'),
    completed(1),
    taskCompleted,
    failed(3),
    scheduled('later'),
    scheduled('open'),
    completed(7),
  )

  expect(history.stepsOpenAt(5)).toEqual(['open', 'failed', 'later'])
  expect(history.stepsOpenAt(9)).toEqual(['open'])
})

test('reset point: local activities are steps; one that failed has not completed', () => {
  const history = historyOf(localMarker('a'), localMarker('b', { message: 'no' }), taskCompleted, localMarker('c'))

  expect(['a', 'b', 'c'].map(history.completionOf)).toEqual([1, null, 4])
  expect(history.stepsOpenAt(3)).toEqual(['c'])
})
