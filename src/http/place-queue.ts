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
  /** Gives `createPlace()` to the request whose turn it is; false if none waits. */
  serveNext(createPlace: (waitedMs: number) => P): boolean
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
 * 3 s, and for up to 50 ms otherwise.
 */
export function createPlaceQueue<P>({ maxSize, onSizeChange }: PlaceQueueOptions): PlaceQueue<P> {
  let oldest: Waiter<P> | null = null
  let newest: Waiter<P> | null = null
  let size = 0
  let isClosed = false
  // When the queue was empty last.
  let busySince = 0
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

  /** Rejects those that have waited for too long. */
  function sweep(): void {
    const now = performance.now()
    const burstEndsAt = busySince + BURST_MS
    const patienceMs = now < burstEndsAt ? BURST_MS : STANDING_MS
    while (oldest !== null && now - oldest.joinedAt >= patienceMs) remove(oldest, null)
    if (oldest === null) return
    const dueAt = Math.min(oldest.joinedAt + patienceMs, now < burstEndsAt ? burstEndsAt : Number.POSITIVE_INFINITY)
    sweepTimer = setTimeout(sweep, Math.max(MIN_SWEEP_MS, dueAt - now))
  }

  return {
    size: () => size,
    join() {
      if (isClosed || size >= maxSize) return null
      const joinedAt = performance.now()
      const { promise, resolve } = Promise.withResolvers<P | null>()
      const waiter: Waiter<P> = { joinedAt, settle: resolve, older: newest, newer: null, isWaiting: true }
      if (size === 0) busySince = joinedAt
      add(waiter)
      sweepTimer ??= setTimeout(sweep, BURST_MS)
      return {
        place: promise,
        giveUp() {
          if (waiter.isWaiting) remove(waiter, null)
        },
      }
    },
    serveNext(createPlace) {
      const now = performance.now()
      const next = now - busySince > STANDING_MS ? newest : oldest
      if (next === null) return false
      remove(next, createPlace(now - next.joinedAt))
      return true
    },
    close() {
      isClosed = true
      while (oldest !== null) remove(oldest, null)
    },
  }
}
