/**
 * Every long poll that the service holds on the engine has a slot, whatever it waits for:
 * docs/decisions/026-waits-share-polls.md.
 */
import { createPollLimit } from './poll-limit.ts'

export interface PollSlots {
  hasFree(): boolean
  /** Takes a slot and returns the function that frees it; null while all are in use. */
  take(): (() => void) | null
  /** The engine has rejected a poll, whose slot is free again: fewer are given for the next minutes. */
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
