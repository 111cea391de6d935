import { expect, test, vi } from 'vitest'
import { retryDelayMs, retryStoreCall, StoreError } from '../../../../src/shared/stores/store-call.ts'

const retryable = new StoreError('busy', { retryable: true })
const retryableAfter2s = new StoreError('slow down', { retryable: true, retryAfterMs: 2000 })
const final = new StoreError('forbidden')

test.each([
  ['the first retry waits half of 50 ms at least', retryable, 0, 10_000, 0, 25],
  ['and 50 ms at most', retryable, 0, 10_000, 1, 50],
  ['the fourth waits up to a second', retryable, 3, 10_000, 1, 1000],
  ['there is no fifth', retryable, 4, 10_000, 1, null],
  ['a final error is not retried', final, 0, 10_000, 0, null],
  ['a longer Retry-After wins', retryableAfter2s, 0, 10_000, 1, 2000],
  ['a delay that ends at the deadline is too long', retryable, 0, 50, 1, null],
  ['a Retry-After beyond the deadline is too long', retryableAfter2s, 0, 1999, 0, null],
])('retryDelayMs: %s', (_name, error, attempt, remainingMs, random, expected) => {
  expect(retryDelayMs(error, attempt, remainingMs, random)).toBe(expected)
})

test('retryStoreCall: an error of a socket becomes its code, without the address (threat 87)', async () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' })
  const call = { signal: new AbortController().signal, deadlineAt: Date.now() + 1 }

  const act = () => Promise.reject(new TypeError('fetch failed', { cause }))

  await expect(retryStoreCall('The store', call, act)).rejects.toThrow(/^The store cannot be reached \(ECONNREFUSED\)$/)
})

test('retryStoreCall: makes five attempts, with growing delays', async () => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(1)
  const startedAt = Date.now()
  const attemptsAt: number[] = []
  const call = { signal: new AbortController().signal, deadlineAt: startedAt + 10_000 }

  const failure = retryStoreCall('The store', call, () => {
    attemptsAt.push(Date.now() - startedAt)
    return Promise.reject(retryable)
  }).catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  vi.restoreAllMocks()
  vi.useRealTimers()

  expect(await failure).toBe(retryable)
  expect(attemptsAt).toEqual([0, 50, 200, 600, 1600])
})

test('retryStoreCall: the deadline ends an attempt that hangs, with a retryable error', async () => {
  const call = { signal: new AbortController().signal, deadlineAt: Date.now() + 20 }

  const failure = await retryStoreCall('The store', call, hang).catch((error: unknown) => error)

  expect(failure).toEqual(new StoreError('The store did not respond in time', { retryable: true }))
})

test("retryStoreCall: an abort of the caller rejects with the caller's reason", async () => {
  const leaving = new AbortController()
  const call = { signal: leaving.signal, deadlineAt: Date.now() + 60_000 }

  const waiting = retryStoreCall('The store', call, hang)
  leaving.abort(new Error('left'))

  await expect(waiting).rejects.toThrow('left')
})

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
