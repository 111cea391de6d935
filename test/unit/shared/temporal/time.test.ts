import Long from 'long'
import { expect, test } from 'vitest'
import { toDate, toDuration, toDurationMs, toEpochMs } from '../../../../src/shared/temporal/time.ts'

test('toEpochMs: whole milliseconds, truncated', () => {
  expect(toEpochMs({ seconds: Long.fromNumber(1_700_000_000), nanos: 123_999_999 })).toBe(1_700_000_000_123)
})

test('toEpochMs: a timestamp that was never set is null, also when the engine writes the year 1', () => {
  const found = [null, undefined, {}, { seconds: Long.fromString('-62135596800') }].map(toEpochMs)
  expect(found).toEqual([null, null, null, null])
})

test('toDate: returns the same time as a Date', () => {
  expect(toDate({ seconds: Long.fromNumber(1_700_000_000), nanos: 5_000_000 })).toEqual(new Date(1_700_000_000_005))
  expect(toDate(null)).toBeNull()
})

test('toDuration: writes whole seconds and the rest as nanoseconds', () => {
  expect([0, 1000, 30_500].map(toDuration)).toEqual([
    { seconds: 0, nanos: 0 },
    { seconds: 1, nanos: 0 },
    { seconds: 30, nanos: 500_000_000 },
  ])
})

test('toDurationMs: reads seconds and nanoseconds; a duration that is not set is 0', () => {
  expect(toDurationMs({ seconds: Long.fromNumber(2), nanos: 7_900_000 })).toBe(2007)
  expect([null, undefined, {}].map(toDurationMs)).toEqual([0, 0, 0])
})
