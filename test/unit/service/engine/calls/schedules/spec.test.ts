import { expect, test } from 'vitest'
import { toSpec, toWhen } from '../../../../../../src/service/engine/calls/schedules/spec.ts'
import { toInt64 } from '../../../../../../src/shared/temporal/time.ts'

const range = (start: number, end = start, step = 1) => ({ start, end, step })

test('a cron line is its own comment, unless it has one', () => {
  expect(toSpec({ cron: ['0 3 * * *', '@daily # nightly'] }).cronString).toEqual([
    '0 3 * * * # 0 3 * * *',
    '@daily # nightly',
  ])
})

test('an exception without a time is the whole day, and a calendar without one is midnight', () => {
  const { calendar, excludeCalendar } = toSpec({ calendars: [{ month: '12' }], except: [{ month: '12' }] })

  expect(excludeCalendar).toEqual([{ month: '12', hour: '*', minute: '*', second: '*' }])
  expect(calendar).toEqual([{ month: '12' }])
})

test('the ranges of a calendar are text that the engine reads as the same ranges', () => {
  const { calendars } = toWhen({
    structuredCalendar: [
      {
        second: [range(0)],
        minute: [range(0, 59, 10)],
        // The engine writes one value without an end, and a step of 1 as 0.
        hour: [{ start: 9 }, { start: 12, end: 17, step: 0 }, range(20, 23, 2)],
        dayOfMonth: [range(1, 31)],
        // A single value with a step: the step says nothing.
        month: [range(2, 2, 3)],
        year: [range(2027)],
        dayOfWeek: [range(0, 6)],
        comment: 'often',
      },
    ],
  })

  expect(calendars).toEqual([
    {
      ...{ second: '0', minute: '*/10', hour: '9,12-17,20-23/2', dayOfMonth: '*', month: '2', year: '2027' },
      ...{ dayOfWeek: '*', comment: 'often' },
    },
  ])
})

test('what a schedule does not have is absent', () => {
  expect(toWhen({ interval: [{ interval: { seconds: toInt64(60) } }] })).toEqual({ every: [{ interval: 60_000 }] })
  expect(toWhen(undefined)).toEqual({})
  expect(Object.keys(toSpec({ every: [{ interval: 60_000 }] })).toSorted()).toEqual(
    ['calendar', 'cronString', 'excludeCalendar', 'interval'].toSorted(),
  )
})

test('times and durations are the same in both directions', () => {
  const when = {
    every: [{ interval: 90_000, offset: 5000 }],
    timeZone: 'Europe/Berlin',
    from: '2026-12-01T00:00:00.500Z',
    until: '2030-12-31T23:59:59.250Z',
    jitter: 1500,
  }

  expect(toWhen(toSpec(when))).toEqual(when)
})
