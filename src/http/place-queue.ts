/** Requests that wait for a place among those in flight: docs/decisions/028-requests-in-flight.md. */

/** A slot for a request in flight, of which there is a limited number. */
export interface Place {
  /** Frees the place. Further calls have no effect. */
  leave(): void
  isLeft(): boolean
  /** How long the request has waited for it. */
  waitedMs: number
}

export interface PlaceQueue<P> {
  size(): number
  /** Null if the queue is full or closed. */
  join(): Turn<P> | null
  /**
   * Gives `createPlace()` to the request whose turn it is; false if no request gets it. `usedShare` (0 to 1) is the
   * share of the places that are taken.
   */
  serveNext(createPlace: (waitedMs: number) => P, usedShare: number): boolean
  /** Rejects all requests that wait, and all later ones. */
  close(): void
}

export interface Turn<P> {
  /** Null if the request has waited for too long. */
  place: Promise<P | null>
  /** Without effect once `place` is settled. */
  giveUp(): void
}

export interface PlaceQueueOptions {
  maxSize: number
  onSizeChange(by: 1 | -1): void
}

// A burst ends when the queue has neither been empty nor become shorter for this time. With a slow engine, a burst can
// take longer than this: requests keep waiting as long as the queue becomes shorter.
const BURST_MS = 3000

// A queue is shorter if it has at most this share of its longest size. Small changes do not count, because a full queue
// varies by a few requests at any time.
const SHORTER = 0.9

// How long a request waits during a burst. Together with the work, the response arrives before a proxy or client that
// allows 30 s ends the request.
const MAX_WAIT_MS = 15_000

// How long a request waits after a burst, when requests arrive faster than they are handled: longer waits would only
// delay all of them. In a queue that has not been empty for this time, the newest request goes first.
const STANDING_MS = 50

// After a rejection, the queue does not count as empty or shorter for this time.
const RECOVERY_MS = 1000

// A request that newer ones have overtaken gets a place only if no new request has had to wait for CALM_MS, and less
// than this share of the places is taken: the others are kept for new requests, which would overtake it again. In an
// overload, new requests arrive more often, so that a short pause does not accept a request that has waited for 3 s.
const CALM_MS = 100
const SHARE_OF_OVERTAKEN = 0.5

// The minimum time between two sweeps, so that under load requests are rejected in groups, a little late.
const MIN_SWEEP_MS = 5

interface Waiter<P> {
  joinedAt: number
  settle(place: P | null): void
  older: Waiter<P> | null
  newer: Waiter<P> | null
  isWaiting: boolean
}

/**
 * A queue with controlled delay: a request waits for up to 15 s if the queue was empty, or got shorter by a tenth, at
 * some time in the last 3 s, and for up to 50 ms otherwise. For a second after a rejection, neither counts.
 */
export function createPlaceQueue<P>({ maxSize, onSizeChange }: PlaceQueueOptions): PlaceQueue<P> {
  let oldest: Waiter<P> | null = null
  let newest: Waiter<P> | null = null
  let size = 0
  let isClosed = false
  // When the queue was last empty.
  let busySince = 0
  // When the queue was last empty, or got shorter by a tenth.
  let progressAt = 0
  // The longest that the queue has been since then.
  let peak = 0
  // When a request last had to wait.
  let arrivedAt = 0
  let rejectedAt = Number.NEGATIVE_INFINITY
  let sweepTimer: ReturnType<typeof setTimeout> | undefined

  function add(waiter: Waiter<P>): void {
    if (newest === null) oldest = waiter
    else newest.newer = waiter
    newest = waiter
    size++
    peak = Math.max(peak, size)
    onSizeChange(1)
  }

  function remove(waiter: Waiter<P>, place: P | null): void {
    if (waiter.older === null) oldest = waiter.newer
    else waiter.older.newer = waiter.newer
    if (waiter.newer === null) newest = waiter.older
    else waiter.newer.older = waiter.older
    // Unlinked, because a request that then waits minutes for a result would keep all later ones in memory.
    waiter.older = null
    waiter.newer = null
    waiter.isWaiting = false
    size--
    onSizeChange(-1)
    waiter.settle(place)
    // Only requests that get a place are progress.
    if (place === null) peak = size
    if (size > 0) return
    clearTimeout(sweepTimer)
    sweepTimer = undefined
  }

  function patienceAt(now: number): number {
    return now - progressAt < BURST_MS ? MAX_WAIT_MS : STANDING_MS
  }

  /** When the next request may have waited for too long; `first` is the one that has waited longest. */
  function dueAt(first: Waiter<P>, now: number): number {
    const burstEndsAt = progressAt + BURST_MS
    const endsAt = first.joinedAt + patienceAt(now)
    return now < burstEndsAt ? Math.min(burstEndsAt, endsAt) : endsAt
  }

  /** Rejects the requests that have waited for too long. */
  function sweep(): void {
    const now = performance.now()
    const patienceMs = patienceAt(now)
    while (oldest !== null && now - oldest.joinedAt >= patienceMs) {
      rejectedAt = now
      remove(oldest, null)
    }
    if (oldest !== null) sweepTimer = setTimeout(sweep, Math.max(MIN_SWEEP_MS, dueAt(oldest, now) - now))
  }

  return {
    size: () => size,
    join() {
      const joinedAt = performance.now()
      arrivedAt = joinedAt
      if (isClosed || size >= maxSize) return null
      const { promise, resolve } = Promise.withResolvers<P | null>()
      const waiter: Waiter<P> = { joinedAt, settle: resolve, older: newest, newer: null, isWaiting: true }
      if (size === 0) peak = 0
      if (size === 0 && joinedAt - rejectedAt > RECOVERY_MS) busySince = progressAt = joinedAt
      add(waiter)
      sweepTimer ??= setTimeout(sweep, dueAt(waiter, joinedAt) - joinedAt)
      return {
        place: promise,
        giveUp() {
          if (waiter.isWaiting) remove(waiter, null)
        },
      }
    },
    serveNext(createPlace, usedShare) {
      const now = performance.now()
      const isStanding = now - busySince > STANDING_MS
      const next = isStanding ? newest : oldest
      if (next === null) return false
      const waitedMs = now - next.joinedAt
      const isOvertaken = isStanding && waitedMs > STANDING_MS
      const isCalm = now - arrivedAt > CALM_MS && usedShare < SHARE_OF_OVERTAKEN
      // Only a freed place calls this again. If no place is taken, none will be freed, so this one is given away.
      if (isOvertaken && !isCalm && usedShare > 0) return false
      remove(next, createPlace(waitedMs))
      if (size <= peak * SHORTER && now - rejectedAt > RECOVERY_MS) {
        progressAt = now
        peak = size
      }
      return true
    },
    close() {
      isClosed = true
      while (oldest !== null) remove(oldest, null)
    },
  }
}
