import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  timeoutMs?: number
  /** Default: 25 ms at first, and a tenth of the time waited so far, at most 200 ms, later. */
  everyMs?: number
  /** Ends the waiting early, with the signal's reason. */
  signal?: AbortSignal
}

/**
 * Probes until there is a value (or true) and returns it: what tests do instead of sleeping.
 *
 * A probe that throws counts as "not yet". Rejects after `timeoutMs` (10 s) with `what` and the last fault.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 10_000, everyMs, signal }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const beganAt = Date.now()
  const deadlineAt = beganAt + timeoutMs
  let fault: unknown
  while (Date.now() < deadlineAt) {
    signal?.throwIfAborted()
    try {
      const value = await probe()
      fault = undefined
      if (isThere(value)) return value
    } catch (error) {
      fault = error
    }
    await pause(everyMs ?? pauseAfter(Date.now() - beganAt))
  }
  throw new Error(`Not within ${timeoutMs} ms: ${what}${fault instanceof Error ? ` (${fault.message})` : ''}`, {
    cause: fault,
  })
}

// A probe often costs a request: asked every 25 ms, a hundred tests at once keep the services busy with nothing else.
function pauseAfter(waitedMs: number): number {
  return Math.min(Math.max(25, waitedMs / 10), 200)
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
