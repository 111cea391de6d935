/** What is known here of the engine's clock, which stamps the start of every run. */
export interface EngineClock {
  /** Notes a time (epoch ms) that the engine has stamped before now. */
  saw(stampedAt: number | null): void
  /** A time that the engine's clock had certainly passed at `at` of ours (both epoch ms). */
  floor(at: number): number
}

// Until it is measured: no two clocks are further apart.
const CLOCKS_APART_MS = 60_000

// For so long a measurement holds: a clock may be set.
const MEASURED_FOR_MS = 600_000

/**
 * The engine's clock is behind ours by at most as much as an answer is later here than the newest stamp in it.
 *
 * An engine that seems to be ahead counts as being on time: of several hosts only the one that has stamped may be ahead.
 */
export function createEngineClock(now: () => number = Date.now): EngineClock {
  let measured = { behindMs: CLOCKS_APART_MS, until: 0 }
  const behindMs = () => (now() < measured.until ? measured.behindMs : CLOCKS_APART_MS)
  return {
    saw(stampedAt) {
      const lateMs = stampedAt === null ? Number.POSITIVE_INFINITY : Math.max(0, now() - stampedAt)
      if (lateMs <= behindMs()) measured = { behindMs: lateMs, until: now() + MEASURED_FOR_MS }
    },
    floor: (at) => at - behindMs(),
  }
}

/** When the engine made this run id (epoch ms), which is when its run was started; null for an id that does not tell. */
export function startTimeOf(runId: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(runId) ?? []
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16)
}
