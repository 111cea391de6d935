const TICK_MS = 20

const KEPT_TICKS = 500

let ticks = 0
const lastTicksAt: number[] = []
setInterval(() => {
  ticks++
  lastTicksAt.push(Date.now())
  if (lastTicksAt.length > KEPT_TICKS) lastTicksAt.shift()
}, TICK_MS).unref()

/**
 * Milliseconds for which this process has been running, to measure a service inside it. Unlike the time of day it stands still
 * while a busy machine does not let the process run, which delays the service's own timers too.
 */
export function runningMs(): number {
  return ticks * TICK_MS
}

/** The time of day (epoch milliseconds) at which this process had been running for `ms` less than now; `ms` is at most 10 s. */
export function runningSince(ms: number): number {
  return lastTicksAt.at(-Math.ceil(ms / TICK_MS)) ?? lastTicksAt[0] ?? Date.now()
}
