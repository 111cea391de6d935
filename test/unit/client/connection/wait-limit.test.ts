import { expect, test } from 'vitest'
import { createWaitLimit } from '../../../../src/client/connection/wait-limit.ts'

const NO_DEADLINE = Number.POSITIVE_INFINITY

test('the wait limit: is half of the time after which a connection was cut, and grows with each response', () => {
  const limit = createWaitLimit(25_000)

  const waits = [limit.next(NO_DEADLINE)]
  limit.cut(10_000)
  waits.push(limit.next(NO_DEADLINE))
  limit.completed(5000)
  waits.push(limit.next(NO_DEADLINE))
  limit.completed(20_000)
  waits.push(limit.next(NO_DEADLINE))

  expect(waits).toEqual([25_000, 5000, 10_000, 25_000])
})

test('the wait limit: a quick response says nothing, and neither does a connection that fails at once', () => {
  const limit = createWaitLimit(25_000)

  limit.cut(3000)
  limit.completed(10)
  limit.cut(5)

  expect(limit.next(NO_DEADLINE)).toBe(1500)
})

test('the wait limit: is at least half a second, and at most what remains', () => {
  const limit = createWaitLimit(25_000)
  limit.cut(600)

  expect([limit.next(NO_DEADLINE), limit.next(200.7), limit.next(-3)]).toEqual([500, 200, 1])
})
