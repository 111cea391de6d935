/**
 * Limits how many requests of a client are in flight, as TCP does. There is no limit until the service is overloaded.
 * Then the limit grows by one with each response. From the next overload on, each overload reduces it by a quarter, and
 * it grows by one after as many responses as the limit.
 *
 * It keeps times, not promises or timers: on workerd one request must not wait for a promise of another one.
 */
import { sleep } from '../../shared/lib/abort.ts'
import type { RequestLimits } from './request.ts'

/** Frees the place at once, or after `pauseMs`, so that no other request takes it before. */
export type Leave = (pauseMs?: number) => void

export interface SendLimit {
  /**
   * Waits for a place; null if none was free before the deadline, or if the service was overloaded for all of
   * `retryMs`. A request that `waits` for a run or a handler frees its place after two seconds.
   */
  enter(limits: RequestLimits, waits: boolean): Promise<Leave | null>
  /** A request got a response, other than that the service is overloaded. */
  completed(): void
  /** When a request of the overloaded service was last completed; 0 before the first overload. */
  progressAt(): number
  /** The service was overloaded by the request that was sent at `sentAt`. */
  overloaded(sentAt: number): void
}

// Half of the default of SERVICE_MAX_INFLIGHT: there may be other clients.
const FIRST_LIMIT = 32

// TCP halves its window after a lost packet, but here too many places would then be empty.
const REDUCTION = 0.75

// After this time a request only waits, and the service does not count it as in flight either.
const WAITING_PLACE_MS = 2000

// Longer than any request takes. On workerd a request whose client has disconnected may never end.
const PLACE_MS = 120_000

const MIN_PAUSE_MS = 10

export function createSendLimit(retryMs: number): SendLimit {
  let limit = Number.POSITIVE_INFINITY
  let overloads = 0
  let reducedAt = 0
  let progressAt = 0
  let waiting = 0
  /** When each place is freed at the latest. */
  const places = new Map<object, number>()

  function hasPlace(): boolean {
    if (places.size + 1 <= limit) return true
    for (const [place, endsAt] of places) if (endsAt <= Date.now()) places.delete(place)
    return places.size + 1 <= limit
  }

  return {
    async enter({ deadlineAt, signal }, waits) {
      const enteredAt = Date.now()
      waiting++
      while (!hasPlace() && !signal?.aborted) {
        const leftMs = Math.min(deadlineAt, Math.max(enteredAt, progressAt) + retryMs) - Date.now()
        if (leftMs <= 0) break
        // All waiting requests together check about a thousand times a second.
        await sleep(Math.min(leftMs, Math.max(MIN_PAUSE_MS, waiting * (0.5 + Math.random()))), signal)
      }
      waiting--
      if (!hasPlace() && !signal?.aborted) return null
      const place = {}
      places.set(place, Date.now() + (waits ? WAITING_PLACE_MS : PLACE_MS))
      return (pauseMs = 0) => {
        places.set(place, Date.now() + pauseMs)
        if (pauseMs === 0) places.delete(place)
      }
    },
    progressAt: () => progressAt,
    completed() {
      if (overloads > 0) progressAt = Date.now()
      limit += overloads > 1 ? 1 / limit : 1
    },
    overloaded(sentAt) {
      // Requests that were sent before the last reduction belong to the same overload.
      if (sentAt < reducedAt) return
      reducedAt = Date.now()
      overloads++
      limit = overloads === 1 ? FIRST_LIMIT : Math.max(1, limit * REDUCTION)
    },
  }
}
