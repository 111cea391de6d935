/**
 * Slots for the long polls that the service holds on the engine, whatever they wait for:
 * docs/decisions/026-waits-share-polls.md.
 */
import type { Call } from '../../model/call.ts'

/** Whose share of the slots a poll uses; null without a limit. */
export type PollHolder = string | null

export interface PollSlots {
  hasFree(holder: PollHolder): boolean
  /** Whether the holder has a slot. False without a limit. */
  holds(holder: PollHolder): boolean
  /** Takes a slot and returns the function that frees it; null while the holder may have no more. */
  take(holder: PollHolder): (() => void) | null
  /**
   * Call this when the engine has rejected a poll, after its slot was freed: fewer slots are available for some
   * minutes.
   */
  lower(): void
}

/** Callers with rules of the policy have a share each. An access token uses that of its creator. */
export function pollHolder({ caller }: Call): PollHolder {
  return caller?.kind === 'granted' ? (caller.delegatedBy ?? caller.id) : null
}

/**
 * A holder gets a slot while it has fewer than are free. So one alone gets half of all, two get a third each, and there
 * is always one for the next.
 */
export function createPollSlots(maxPolls: number): PollSlots {
  const limit = createPollLimit(maxPolls)
  const held = new Map<string, number>()
  let used = 0

  function hasFree(holder: PollHolder): boolean {
    const own = holder === null ? 0 : (held.get(holder) ?? 0)
    return own < limit.current() - used
  }

  function count(holder: PollHolder, change: number): void {
    used += change
    if (holder === null) return
    const own = (held.get(holder) ?? 0) + change
    if (own === 0) held.delete(holder)
    else held.set(holder, own)
  }

  return {
    hasFree,
    holds: (holder) => holder !== null && held.has(holder),
    take(holder) {
      if (!hasFree(holder)) return null
      count(holder, 1)
      let isTaken = true
      return () => {
        if (isTaken) count(holder, -1)
        isTaken = false
      }
    },
    lower: () => limit.lower(used),
  }
}

/** How many long polls may be open. The engine's own limit is per namespace, and others use it too. */
interface PollLimit {
  current(): number
  /** The engine rejected a poll while `openPolls` others were open. */
  lower(openPolls: number): void
}

// Rejections within this time lower the limit once: an engine under load also rejects polls that were sent before.
const SETTLE_MS = 2000

// The engine holds a poll for 20 s: after that time others have released some of theirs.
const RAISE_EVERY_MS = 20_000

/**
 * After a rejection the limit is ten percent below the number of open polls. Every 20 s it rises by ten percent of
 * `maxPolls`.
 */
export function createPollLimit(maxPolls: number): PollLimit {
  const step = Math.ceil(maxPolls / 10)
  let lowered = maxPolls
  let loweredAt = Number.NEGATIVE_INFINITY
  const current = () => Math.min(maxPolls, lowered + step * Math.floor((Date.now() - loweredAt) / RAISE_EVERY_MS))
  return {
    current,
    lower(openPolls) {
      if (Date.now() - loweredAt < SETTLE_MS) return
      lowered = Math.floor(Math.min(openPolls, current()) * 0.9)
      loweredAt = Date.now()
    },
  }
}
