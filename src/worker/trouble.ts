import type { Logger } from '@temporalio/worker'

/** What goes wrong beside the user's work: counted, and logged once a minute, for the same is likely to go wrong a thousand times. */
export type Trouble = (what: string, facts?: Readonly<Record<string, unknown>>) => void

const QUIET_MS = 60_000

export function createTrouble(logger: Pick<Logger, 'warn'>, now: () => number = Date.now): Trouble {
  const seen = new Map<string, { loggedAt: number; unlogged: number }>()
  return (what, facts = {}) => {
    const { loggedAt, unlogged } = seen.get(what) ?? { loggedAt: Number.NEGATIVE_INFINITY, unlogged: 0 }
    if (now() - loggedAt < QUIET_MS) {
      seen.set(what, { loggedAt, unlogged: unlogged + 1 })
      return
    }
    seen.set(what, { loggedAt: now(), unlogged: 0 })
    logger.warn(what, { ...facts, times: unlogged + 1 })
  }
}
