/**
 * How often a run is polled. Each poll adds an update to the run, and the engine allows it 2000 updates, 51 200 events
 * and 50 MB of history: the readers of a stream must not use up what the business needs.
 */

export interface Usage {
  /** Polls of this stream so far. */
  polls: number
  historyLength: number
  historySizeBytes: number
}

const MAX_EVENTS = 40_000
const MAX_BYTES = 40_000_000

// The pause after a poll, up to each share of what readers may use.
const PAUSES: readonly (readonly [share: number, ms: number])[] = [
  [0.2, 100],
  [0.4, 250],
  [0.6, 500],
  [0.8, 1000],
  [1, 2000],
]

/** Null if readers have used up their share: the run gets no more polls. */
export function pauseAfterPollMs({ polls, historyLength, historySizeBytes }: Usage, maxUpdates: number): number | null {
  const used = Math.max(polls / maxUpdates, historyLength / MAX_EVENTS, historySizeBytes / MAX_BYTES)
  return PAUSES.find(([share]) => used < share)?.[1] ?? null
}
