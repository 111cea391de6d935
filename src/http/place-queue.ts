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

// How long a request waits during a burst: as long as the queue was empty at some time in this period.
const BURST_MS = 3000

// How long a request waits if the queue has not been empty for longer than a burst, because requests arrive faster than
// they are handled: longer waits would only delay all of them. In a queue that has not been empty for this time, the
// newest request goes first.
const STANDING_MS = 50

// An overload ends when the queue is empty and no request has been rejected for this time.
const RECOVERY_MS = 1000

// Requests that newer ones have overtaken get places only when no request has had to wait for this time, and only this
// share of the places: the others are kept for new requests, which would overtake them again. During an overload the
// pauses between arrivals are shorter, so a short pause does not accept a request that has waited for 3 s.
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
 * A queue with controlled delay: a request waits for up to 3 s if the queue was empty at some time in the last 3 s, and
 * for up to 50 ms otherwise. For a second after a rejection, an empty queue does not count as empty.
 */
export function createPlaceQueue<P>({ maxSize, onSizeChange }: PlaceQueueOptions): PlaceQueue<P> {
  let oldest: Waiter<P> | null = null
  let newest: Waiter<P> | null = null
  let size = 0
  let isClosed = false
  // When the queue was last empty.
  let busySince = 0
  // When a request last had to wait.
  let arrivedAt = 0
  let rejectedAt = Number.NEGATIVE_INFINITY
  let sweepTimer: ReturnType<typeof setTimeout> | undefined

  function add(waiter: Waiter<P>): void {
    if (newest === null) oldest = waiter
    else newest.newer = waiter
    newest = waiter
    size++
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
    if (size > 0) return
    clearTimeout(sweepTimer)
    sweepTimer = undefined
  }

  function patienceAt(now: number): number {
    return now - busySince < BURST_MS ? BURST_MS : STANDING_MS
  }

  /** Rejects the requests that have waited for too long. */
  function sweep(): void {
    const now = performance.now()
    const patienceMs = patienceAt(now)
    while (oldest !== null && now - oldest.joinedAt >= patienceMs) {
      rejectedAt = now
      remove(oldest, null)
    }
    if (oldest === null) return
    const burstEndsAt = busySince + BURST_MS
    const dueAt = Math.min(oldest.joinedAt + patienceMs, now < burstEndsAt ? burstEndsAt : Number.POSITIVE_INFINITY)
    sweepTimer = setTimeout(sweep, Math.max(MIN_SWEEP_MS, dueAt - now))
  }

  return {
    size: () => size,
    join() {
      const joinedAt = performance.now()
      arrivedAt = joinedAt
      if (isClosed || size >= maxSize) return null
      const { promise, resolve } = Promise.withResolvers<P | null>()
      const waiter: Waiter<P> = { joinedAt, settle: resolve, older: newest, newer: null, isWaiting: true }
      if (size === 0 && joinedAt - rejectedAt > RECOVERY_MS) busySince = joinedAt
      add(waiter)
      sweepTimer ??= setTimeout(sweep, patienceAt(joinedAt))
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
      return true
    },
    close() {
      isClosed = true
      while (oldest !== null) remove(oldest, null)
    },
  }
}
