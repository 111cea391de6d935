/**
 * Aborting, deadlines, sleeping and retrying. `test/source-files.test.ts` checks that no other file listens to an
 * `AbortSignal`.
 */
import { MAX_TIMER_MS } from './duration.ts'

export interface LinkedSignal {
  signal: AbortSignal
  abort(reason?: unknown): void
  /** Call this when the work has ended: it removes the listeners from the linked signals, and the timer. */
  release(): void
}

/** A new signal that aborts with the first of `signals`, for the same reason. */
export function linkSignals(...signals: AbortSignal[]): LinkedSignal {
  const controller = new AbortController()
  function abort(this: AbortSignal): void {
    controller.abort(this.reason)
  }
  for (const signal of signals) {
    if (signal.aborted) abort.call(signal)
    else signal.addEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release() {
      for (const signal of signals) signal.removeEventListener('abort', abort)
    },
  }
}

/** The same signal for a library that adds one listener and never removes it. Cheaper than a linked signal. */
export function releasable(signal: AbortSignal): Pick<LinkedSignal, 'signal' | 'release'> {
  let added: Listener | null = null
  const addEventListener = (_type: 'abort', listener: Listener) => {
    added = listener
    signal.addEventListener('abort', listener)
  }
  return {
    signal: { addEventListener } as unknown as AbortSignal,
    release() {
      if (added !== null) signal.removeEventListener('abort', added)
    },
  }
}

type Listener = () => void

/** The same, which also aborts with a `TimeoutError` at `deadlineAt` (epoch milliseconds). */
export function deadlineSignal(deadlineAt: number, ...signals: AbortSignal[]): LinkedSignal {
  const linked = linkSignals(...signals)
  const abort = () => linked.abort(new DOMException('The deadline has passed', 'TimeoutError'))
  const timer = setTimeout(abort, delayUntilMs(deadlineAt))
  return {
    ...linked,
    release() {
      clearTimeout(timer)
      linked.release()
    },
  }
}

/** The same, which also aborts with a `TimeoutError` after `ms` for which this process was running. */
export function runningTimeSignal(ms: number, ...signals: AbortSignal[]): LinkedSignal {
  const linked = linkSignals(...signals)
  const stop = afterRunning(ms, () => linked.abort(new DOMException('The time is over', 'TimeoutError')))
  return {
    ...linked,
    release() {
      stop()
      linked.release()
    },
  }
}

const TICK_MS = 50

/**
 * Calls `act` after the process has been running for `ms`. Returns the function that prevents the call. Time is counted
 * in ticks, so that a tick that is late because the process was stopped or busy counts only once.
 */
export function afterRunning(ms: number, act: () => void): () => void {
  let leftMs = ms
  const start = () => setTimeout(tick, Math.min(leftMs, TICK_MS))
  const tick = () => {
    leftMs -= TICK_MS
    if (leftMs > 0) timer = start()
    else act()
  }
  let timer = start()
  return () => clearTimeout(timer)
}

/**
 * Settles as `promise` does, or rejects with the signal's reason when that aborts first. `promise` itself continues.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Settles as `promise` does, or rejects with a `TimeoutError` at `deadlineAt` or with the reason of `signal`. */
export async function withDeadline<T>(promise: Promise<T>, deadlineAt: number, signal: AbortSignal): Promise<T> {
  const linked = deadlineSignal(deadlineAt, signal)
  try {
    return await unlessAborted(promise, linked.signal)
  } finally {
    linked.release()
  }
}

/** Calls `act` once, when the signal aborts or at `deadlineAt`. Returns the function that prevents it. */
export function whenOver(deadlineAt: number, signal: AbortSignal, act: () => void): () => void {
  if (deadlineAt === Number.POSITIVE_INFINITY) return whenAborted(signal, act)
  const over = () => {
    stop()
    act()
  }
  const stop = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', over)
  }
  const timer = setTimeout(over, delayUntilMs(deadlineAt))
  signal.addEventListener('abort', over)
  return stop
}

/** Calls `act` once, when the signal aborts. Returns the function that prevents it. */
export function whenAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
  return () => signal.removeEventListener('abort', act)
}

/** Resolves after `ms`, or when the signal aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = () => resolve()
  const timer = setTimeout(wake, ms)
  signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
}

/** Calls `act` at a time (epoch milliseconds), however far away. Returns the function that prevents the call. */
export function callAt(time: number, act: () => void): () => void {
  const start = () => setTimeout(wake, delayUntilMs(time))
  const wake = () => {
    if (Date.now() < time) timer = start()
    else act()
  }
  let timer = start()
  return () => clearTimeout(timer)
}

function delayUntilMs(deadlineAt: number): number {
  return Math.min(Math.max(0, deadlineAt - Date.now()), MAX_TIMER_MS)
}

interface Backoff {
  /** The delay before the next attempt. Throws instead to end the retries; the caller gets that error. */
  delayMs(error: unknown, retries: number): number
  /** Ends a delay at once. The next attempt is made nevertheless, and must reject. */
  signal: AbortSignal
  /** Called after the delay. It can throw to end the retries too. */
  beforeRetry?(error: unknown): Promise<void>
}

/** The result of the first attempt that succeeds. */
export async function retryWithBackoff<T>(
  attempt: () => Promise<T>,
  { delayMs, signal, beforeRetry }: Backoff,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt()
    } catch (error) {
      await sleep(delayMs(error, retries), signal)
      await beforeRetry?.(error)
    }
  }
}
