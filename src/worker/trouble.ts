import type { Logger } from '@temporalio/worker'

/** What goes wrong beside the user's work: counted, and logged once a minute, for the same is likely to go wrong a thousand times. */
export type Trouble = (what: string, facts?: Readonly<Record<string, unknown>>) => void

interface Untold {
  facts: Readonly<Record<string, unknown>>
  times: number
  dropped: number
  timer: NodeJS.Timeout | undefined
}

const QUIET_MS = 60_000

/** The first of a kind is logged at once, what follows within a minute at its end, or by `tellAll`: with how often it was, and all that was `dropped`. */
export function createTrouble(logger: Pick<Logger, 'warn'>): { trouble: Trouble; tellAll(): void } {
  const untold = new Map<string, Untold>()

  function tell(what: string): void {
    const { times, dropped, facts, timer } = untold.get(what) ?? { times: 0, dropped: 0, facts: {}, timer: undefined }
    clearTimeout(timer)
    untold.delete(what)
    if (times === 0) return
    logger.warn(what, { ...facts, ...(dropped > 0 && { dropped }), times })
    untold.set(what, { facts: {}, times: 0, dropped: 0, timer: setTimeout(tell, QUIET_MS, what).unref() })
  }

  return {
    trouble(what, facts = {}) {
      const before = untold.get(what)
      const dropped = (before?.dropped ?? 0) + (typeof facts.dropped === 'number' ? facts.dropped : 0)
      untold.set(what, { facts, times: (before?.times ?? 0) + 1, dropped, timer: before?.timer })
      if (before === undefined) tell(what)
    },
    tellAll: () => [...untold.keys()].forEach(tell),
  }
}
