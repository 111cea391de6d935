import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  timeoutMs?: number
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
  { timeoutMs = 10_000, everyMs = 25, signal }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadlineAt = Date.now() + timeoutMs
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
    await pause(everyMs)
  }
  throw new Error(`Not within ${timeoutMs} ms: ${what}${fault instanceof Error ? ` (${fault.message})` : ''}`, {
    cause: fault,
  })
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
