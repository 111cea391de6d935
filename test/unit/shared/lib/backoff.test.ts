import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { retryWithBackoff } from '../../../../src/shared/lib/backoff.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const BACKOFF_MS = [100, 300]
const { signal } = new AbortController()

/** Rejects with these errors in turn, then resolves; records when each attempt was made. */
function failing(...errors: Error[]) {
  const startedAt = Date.now()
  const attemptsAt: number[] = []
  async function attempt(): Promise<string> {
    attemptsAt.push(Date.now() - startedAt)
    const error = errors.shift()
    if (error) throw error
    return 'done'
  }
  return { attempt, attemptsAt }
}

function delayMs(error: unknown, retries: number): number {
  const delay = BACKOFF_MS[retries]
  if (delay === undefined) throw new Error('the last attempt failed', { cause: error })
  return delay
}

async function settled<T>(promise: Promise<T>): Promise<unknown> {
  const outcome = promise.catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  return outcome
}

test('retryWithBackoff: makes each attempt after the delay that the failure before it has', async () => {
  const { attempt, attemptsAt } = failing(new Error('1'), new Error('2'))

  expect(await settled(retryWithBackoff(attempt, { delayMs, signal }))).toBe('done')
  expect(attemptsAt).toEqual([0, 100, 400])
})

test('retryWithBackoff: the error that delayMs throws ends it', async () => {
  const { attempt, attemptsAt } = failing(new Error('1'), new Error('2'), new Error('3'))

  expect(await settled(retryWithBackoff(attempt, { delayMs, signal }))).toMatchObject({
    message: 'the last attempt failed',
    cause: { message: '3' },
  })
  expect(attemptsAt).toEqual([0, 100, 400])
})

test('retryWithBackoff: an error of beforeRetry ends it without another attempt', async () => {
  const { attempt, attemptsAt } = failing(new Error('1'))
  const beforeRetry = () => Promise.reject(new Error('must not be sent again'))

  expect(await settled(retryWithBackoff(attempt, { delayMs, signal, beforeRetry }))).toMatchObject({
    message: 'must not be sent again',
  })
  expect(attemptsAt).toEqual([0])
})

test('retryWithBackoff: an abort ends the delay', async () => {
  const { attempt, attemptsAt } = failing(new Error('1'))
  const leaving = new AbortController()

  const result = retryWithBackoff(attempt, { delayMs, signal: leaving.signal })
  await vi.advanceTimersByTimeAsync(40)
  leaving.abort()

  expect(await result).toBe('done')
  expect(attemptsAt).toEqual([0, 40])
})
