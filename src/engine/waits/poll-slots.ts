/**
 * Slots for the long polls that the service holds on the engine, whatever they wait for:
 * docs/decisions/026-waits-share-polls.md.
 */

export interface PollSlots {
  hasFree(): boolean
  /** Takes a slot and returns the function that frees it; null while all are in use. */
  take(): (() => void) | null
  /**
   * Call this when the engine has rejected a poll, after its slot was freed: fewer slots are available for some
   * minutes.
   */
  lower(): void
}

export function createPollSlots(maxPolls: number): PollSlots {
  const limit = createPollLimit(maxPolls)
  let used = 0
  const hasFree = () => used < limit.current()

  return {
    hasFree,
    take() {
      if (!hasFree()) return null
      used++
      let isTaken = true
      return () => {
        if (isTaken) used--
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
