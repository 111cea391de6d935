/** What goes wrong while a soak runs. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'

export interface Fault {
  name: string
  /** Resolves when the fault is over. */
  inject(): Promise<void>
}

const EVERY_MS = 12_000

/** Injects one fault after the other until the signal aborts. Returns how often each was injected. */
export async function injectFaults(
  faults: readonly [Fault, ...Fault[]],
  random: Random,
  stopped: AbortSignal,
): Promise<Map<string, number>> {
  const injected = new Map<string, number>()
  for (let turn = 0; ; turn++) {
    await pause(EVERY_MS / 2 + random.below(EVERY_MS), null, { signal: stopped }).catch(() => {})
    if (stopped.aborted) return injected
    // Each in turn, so that a short soak has all of them.
    const fault = faults[turn % faults.length] ?? faults[0]
    await fault.inject()
    injected.set(fault.name, (injected.get(fault.name) ?? 0) + 1)
  }
}
