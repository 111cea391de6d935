import { expect, test } from 'vitest'
import { createEngineClock, startTimeOf } from '../../../src/engine/context.ts'

const NOW = 1_700_000_000_000

test('clock: the engine may be a minute behind until a response has been measured', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(null)
  clock.observe(NOW - 3_600_000)

  expect(clock.earliest(NOW)).toBe(NOW - 60_000)
})

test('clock: the engine is at most as far behind as the smallest difference observed', () => {
  const clock = createEngineClock(() => NOW)
  for (const lateMs of [30_000, 5, 200]) clock.observe(NOW - lateMs)

  expect(clock.earliest(NOW)).toBe(NOW - 5)
})

test('clock: an engine that is behind keeps its difference', () => {
  let now = NOW
  const clock = createEngineClock(() => now)
  clock.observe(NOW - 40_000)
  now += 1000

  expect(clock.earliest(now)).toBe(now - 40_000)
})

test('clock: an engine that is ahead counts as being on time', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(NOW + 5000)

  expect(clock.earliest(NOW)).toBe(NOW)
})

test('clock: a measurement expires after ten minutes', () => {
  let now = NOW
  const clock = createEngineClock(() => now)
  clock.observe(now - 5)
  now += 599_999
  expect(clock.earliest(now)).toBe(now - 5)
  now += 1
  expect(clock.earliest(now)).toBe(now - 60_000)

  clock.observe(now - 200)
  expect(clock.earliest(now)).toBe(now - 200)
})

test('clock: the run id of a new start contains its time, that of a continued run does not', () => {
  const ids = ['01a2014c-9bd9-740d-b794-c0b6d76c221c', '58f10cca-5598-4162-b1b9-74659713e454', '']

  expect(ids.map(startTimeOf)).toEqual([Date.parse('2026-11-22T03:28:47.577Z'), null, null])
})
