import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  deadlineSignal,
  linkSignals,
  releasable,
  retryWithBackoff,
  runningTimeSignal,
  sleep,
  unlessAborted,
  whenOver,
  withDeadline,
} from '../../../../src/shared/lib/abort.ts'

const never = new Promise<never>(() => {})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('linkSignals: aborts with any of its signals, for the same reason', () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const { signal } = linkSignals(first.signal, second.signal)

  second.abort('enough')

  expect(signal.reason).toBe('enough')
})

test('linkSignals: has aborted when one of its signals has', () => {
  expect(linkSignals(AbortSignal.abort('before')).signal.reason).toBe('before')
})

test('linkSignals: leaves no listener once released', () => {
  const { signal } = new AbortController()

  linkSignals(signal).release()

  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('releasable: calls the listener when the signal aborts, until it is released', () => {
  const [aborted, released] = [new AbortController(), new AbortController()]
  const listener = vi.fn()
  const [first, second] = [releasable(aborted.signal), releasable(released.signal)]
  first.signal.addEventListener('abort', listener)
  second.signal.addEventListener('abort', listener)

  second.release()
  released.abort()
  expect(listener).not.toHaveBeenCalled()
  aborted.abort()

  expect(listener).toHaveBeenCalledOnce()
})

test.for([
  ['deadlineSignal: aborts with a TimeoutError at the deadline', () => deadlineSignal(Date.now() + 1000)],
  [
    'runningTimeSignal: aborts with a TimeoutError when the process has run for that time',
    () => runningTimeSignal(1000),
  ],
] as const)('%s', async ([, create]) => {
  const { signal } = create()

  await vi.advanceTimersByTimeAsync(999)
  expect(signal.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
})

test('deadlineSignal: leaves no timer once released', () => {
  deadlineSignal(Date.now() + 1000).release()

  expect(vi.getTimerCount()).toBe(0)
})

test('runningTimeSignal: time in which the process does not run hardly counts', async () => {
  vi.useRealTimers()
  const { signal, release } = runningTimeSignal(200)

  // Timers that are due run once the process runs again.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await new Promise((resolve) => setTimeout(resolve))

  expect(signal.aborted).toBe(false)
  release()
})

test('runningTimeSignal: aborts with its signals, and leaves neither timer nor listener once released', () => {
  const caller = new AbortController()
  const { signal, release } = runningTimeSignal(1000, caller.signal)
  caller.abort('left')

  release()

  expect([signal.reason, vi.getTimerCount(), getEventListeners(caller.signal, 'abort')]).toEqual(['left', 0, []])
})

test('unlessAborted: rejects with the reason of the signal and leaves no listener', async () => {
  const controller = new AbortController()
  const waiting = unlessAborted(never, controller.signal)

  controller.abort(new Error('left'))

  await expect(waiting).rejects.toThrow('left')
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

test('withDeadline: settles as the promise does, and leaves neither timer nor listener', async () => {
  const { signal } = new AbortController()

  expect(await withDeadline(Promise.resolve(7), Date.now() + 1000, signal)).toBe(7)

  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('withDeadline: rejects with a TimeoutError at the deadline', async () => {
  const waiting = withDeadline(never, Date.now() + 1000, new AbortController().signal)
  const rejected = expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })

  await vi.advanceTimersByTimeAsync(1000)

  await rejected
})

test('sleep: takes as long as requested', async () => {
  const ended = vi.fn()
  void sleep(1000, new AbortController().signal).then(ended)

  await vi.advanceTimersByTimeAsync(999)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toHaveBeenCalled()
})

test('sleep: ends when the signal aborts, and leaves no timer', async () => {
  const controller = new AbortController()
  const sleeping = sleep(1000, controller.signal)

  controller.abort()

  await sleeping
  expect(vi.getTimerCount()).toBe(0)
})

test('sleep: does not begin when the signal has aborted', async () => {
  await sleep(1000, AbortSignal.abort())

  expect(vi.getTimerCount()).toBe(0)
})

test('sleep: leaves no listener on the signal', async () => {
  const { signal } = new AbortController()
  const sleeps = Array.from({ length: 20 }, () => sleep(1000, signal))

  await vi.runAllTimersAsync()
  await Promise.all(sleeps)

  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('whenOver: acts once, at the deadline or when the signal aborts', async () => {
  const controller = new AbortController()
  const act = vi.fn()
  for (const ms of [1000, 5000]) whenOver(Date.now() + ms, controller.signal, () => act(ms))

  await vi.advanceTimersByTimeAsync(1000)
  controller.abort()
  await vi.runAllTimersAsync()

  expect(act.mock.calls).toEqual([[1000], [5000]])
})

test('whenOver: does not act after it was stopped, and leaves no timer and no listener', () => {
  const controller = new AbortController()
  const act = vi.fn()

  whenOver(Date.now() + 1000, controller.signal, act)()
  controller.abort()

  expect(act).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

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
