import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPollLimit } from '../../../../src/engine/waits/poll-slots.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('poll limit: is the configured maximum until the engine rejects a poll', () => {
  expect(createPollLimit(1000).current()).toBe(1000)
})

test('poll limit: is a tenth below what was open when the engine rejected a poll', () => {
  const limit = createPollLimit(1000)

  limit.lower(500)

  expect(limit.current()).toBe(450)
})

test('poll limit: polls that are rejected together lower it once', () => {
  const limit = createPollLimit(1000)

  for (const open of [500, 499, 498]) limit.lower(open)

  expect(limit.current()).toBe(450)
})

test('poll limit: a later rejection lowers it again, whatever is still open', () => {
  const limit = createPollLimit(1000)
  limit.lower(500)
  vi.advanceTimersByTime(2000)

  limit.lower(500)

  expect(limit.current()).toBe(405)
})

test('poll limit: rises by a tenth of the maximum every 20 s, up to the maximum', () => {
  const limit = createPollLimit(1000)
  limit.lower(900)

  const later = [19_999, 1, 20_000, 600_000].map((ms) => {
    vi.advanceTimersByTime(ms)
    return limit.current()
  })

  expect(later).toEqual([810, 910, 1000, 1000])
})

test('poll limit: a service that could open no poll tries again', () => {
  const limit = createPollLimit(5)
  limit.lower(0)
  expect(limit.current()).toBe(0)

  vi.advanceTimersByTime(20_000)

  expect(limit.current()).toBe(1)
})
