const TICK_MS = 20

let ticks = 0
setInterval(() => ticks++, TICK_MS).unref()

/**
 * Milliseconds for which this process has been running, to measure a service inside it. Unlike the time of day it
 * stands still while a busy machine does not let the process run, which delays the service's own timers too.
 */
export function runningMs(): number {
  return ticks * TICK_MS
}
