import { sleep } from '../../../shared/lib/abort.ts'

export interface UntilOptions {
  timeoutMs?: number
  /** Interval between probes. Default: a tenth of the time waited so far, from 25 to 200 ms. */
  everyMs?: number
  /** Rejects early, with the signal's reason. */
  signal?: AbortSignal
}

/**
 * Calls `probe` until it returns a value (or true), and returns that. Tests use it instead of sleeping.
 *
 * A probe that throws is repeated. Rejects after `timeoutMs` (90 s: a busy machine is slow) with `what` and the last
 * error.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 90_000, everyMs, signal }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const beganAt = Date.now()
  const deadlineAt = beganAt + timeoutMs
  let lastError: unknown
  while (Date.now() < deadlineAt) {
    signal?.throwIfAborted()
    try {
      const value = await probe()
      lastError = undefined
      if (isPresent(value)) return value
    } catch (error) {
      lastError = error
    }
    await sleep(everyMs ?? pauseAfter(Date.now() - beganAt), signal)
  }
  throw new Error(`Not within ${timeoutMs} ms: ${what}${lastError instanceof Error ? ` (${lastError.message})` : ''}`, {
    cause: lastError,
  })
}

// A probe is often a request. A hundred tests that all probe every 25 ms would keep the servers busy.
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(25, waitedMs / 10), 200)
}

function isPresent<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
