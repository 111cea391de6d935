/** Requests that wait for a place among those in flight: docs/decisions/028-requests-in-flight.md. */

/** One of a limited number. */
export interface Place {
  /** Gives the place back, once. */
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
   * Gives `createPlace()` to the request whose turn it is; false if it is nobody's. `usedShare` of the places, between
   * 0 and 1, are taken by others.
   */
  serveNext(createPlace: (waitedMs: number) => P, usedShare: number): boolean
  /** Rejects all that wait, and all that come later. */
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

// How long a request waits in a burst, and how long the queue is not empty in one.
const BURST_MS = 3000

// How long a request waits if the queue has not been empty for longer, because requests arrive faster than they are
// handled: a longer queue would only delay all of them. Until then the queue is fair, afterwards the newest goes first.
const STANDING_MS = 50

// How long no request has been rejected before an empty queue counts as the end of an overload, not as a pause in it.
const RECOVERY_MS = 1000

// How long no request has had to wait before those get places that newer ones have overtaken, and how many places.
// The other places are for requests that arrive meanwhile, which would overtake them again. While too many arrive,
// the pauses between them are shorter: otherwise a request could be accepted after 3 s because of a pause.
const CALM_MS = 100
const SHARE_OF_OVERTAKEN = 0.5

// More requests would be rejected a little late, not never.
const MIN_SWEEP_MS = 5

interface Waiter<P> {
  joinedAt: number
  settle(place: P | null): void
  older: Waiter<P> | null
  newer: Waiter<P> | null
  isWaiting: boolean
}

/**
 * A queue with controlled delay: a request waits for up to 3 s while the queue was empty at some time within the last
 * 3 s, and for up to 50 ms otherwise. A queue that is empty because its requests were rejected does not count as empty
 * within a second.
 */
export function createPlaceQueue<P>({ maxSize, onSizeChange }: PlaceQueueOptions): PlaceQueue<P> {
  let oldest: Waiter<P> | null = null
  let newest: Waiter<P> | null = null
  let size = 0
  let isClosed = false
  // When the queue was empty last.
  let busySince = 0
  // When a request had to wait last.
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
    // A request that waits for a result for minutes would keep all that have waited after it in memory.
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

  /** Rejects those that have waited for too long. */
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
      // Places are given when one is left. If none is taken, that would not happen again.
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
