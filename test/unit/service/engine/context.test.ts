import { expect, test } from 'vitest'
import { createEngineClock } from '../../../../src/service/engine/context.ts'

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

test('clock: a run that was just started shows how far the engine is behind, however much that is', () => {
  const clock = createEngineClock(() => NOW)
  clock.observe(NOW - 90_000, { isNew: true })
  expect(clock.earliest(NOW)).toBe(NOW - 90_000)

  clock.observe(NOW - 90_200, { isNew: true })
  clock.observe(NOW - 3_600_000)
  expect(clock.earliest(NOW)).toBe(NOW - 90_000)
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
