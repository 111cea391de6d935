import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWarnings } from '../../../../src/worker/tracing/rate-limited-warnings.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('warnings: logs a repeated message once a minute, with its count', () => {
  const { warn, logged } = makeWarnings()

  for (let second = 0; second < 60; second++) {
    warn('down')
    vi.advanceTimersByTime(1000)
  }
  warn('something else')

  expect(logged).toEqual([
    ['down', { times: 1 }],
    ['down', { times: 59 }],
    ['something else', { times: 1 }],
  ])
})

test('warnings: logs the sum of dropped items, also if the message does not occur again', () => {
  const { warn, logged } = makeWarnings()

  for (const dropped of [1, 20, 300]) warn('dropped', { dropped, maxBytes: 5 })
  vi.advanceTimersByTime(180_000)
  warn('dropped', { dropped: 4000, maxBytes: 5 })

  expect(logged).toEqual([
    ['dropped', { dropped: 1, maxBytes: 5, times: 1 }],
    ['dropped', { dropped: 320, maxBytes: 5, times: 2 }],
    ['dropped', { dropped: 4000, maxBytes: 5, times: 1 }],
  ])
})

test('warnings: flush logs pending repeats', () => {
  const { warn, flush, logged } = makeWarnings()

  for (const dropped of [1, 20, 300]) warn('dropped', { dropped })
  flush()
  vi.advanceTimersByTime(60_000)

  expect(logged).toEqual([
    ['dropped', { dropped: 1, times: 1 }],
    ['dropped', { dropped: 320, times: 2 }],
  ])
})

function makeWarnings() {
  const logged: unknown[] = []
  return { ...createWarnings({ warn: (message, fields) => void logged.push([message, fields]) }), logged }
}
