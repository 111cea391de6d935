/** What is known about the engine's clock, from the start times of runs. */
export interface EngineClock {
  /** Records a time of the engine's clock (epoch milliseconds) that has just been received. */
  observe(engineTime: number | null): void
  /** The earliest time that the engine's clock can have shown when ours showed `at` (both epoch milliseconds). */
  earliest(at: number): number
}

// Assumed until it is measured: no engine is further behind than this.
const MAX_BEHIND_MS = 60_000

// A measurement expires, because clocks are adjusted.
const MEASUREMENT_VALID_MS = 600_000

/**
 * Keeps an upper bound of how far the engine's clock is behind ours: the difference between the arrival of a response
 * and the newest time in it.
 *
 * A clock that seems to be ahead counts as exact: an engine may have several hosts, and only one of them may be ahead.
 */
export function createEngineClock(now: () => number = Date.now): EngineClock {
  let measured = { behindMs: MAX_BEHIND_MS, validUntil: 0 }
  const behindMs = () => (now() < measured.validUntil ? measured.behindMs : MAX_BEHIND_MS)
  return {
    observe(engineTime) {
      const differenceMs = engineTime === null ? Number.POSITIVE_INFINITY : Math.max(0, now() - engineTime)
      if (differenceMs <= behindMs()) measured = { behindMs: differenceMs, validUntil: now() + MEASUREMENT_VALID_MS }
    },
    earliest: (at) => at - behindMs(),
  }
}

/** The start time in a run id (epoch milliseconds). Null if the id is not a UUID of version 7. */
export function startTimeOf(runId: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(runId) ?? []
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16)
}
