/**
 * How many requests of a client the service handles at a time: as many as the client sends, until it is overloaded.
 * From then on one more with each response; and after the next overload a quarter less with each overload, and one more
 * after as many responses as there are places.
 *
 * It keeps times, not promises or timers: on workerd one request must not wait for a promise of another one.
 */
import { sleep } from '../../lib/abort.ts'
import type { Limits } from './request.ts'

/** Leaves the place at once, or after `pauseMs`, in which no other request takes it. */
export type Leave = (pauseMs?: number) => void

export interface SendLimit {
  /**
   * Waits for a place; null if there was none before the deadline, or if the service was overloaded all the time for
   * `retryMs`. A request that `waits` for something else than the
   * service leaves its place after two seconds.
   */
  enter(limits: Limits, waits: boolean): Promise<Leave | null>
  /** A request got a response, other than that the service is overloaded. */
  completed(): void
  /** When a request of the overloaded service was last completed; 0 before the first overload. */
  progressAt(): number
  /** The service was overloaded by the request that was sent at `sentAt`. */
  overloaded(sentAt: number): void
}

// Half of the default of SERVICE_MAX_INFLIGHT: there may be other clients.
const FIRST_LIMIT = 32

// More of the places would be empty with a half, as after a lost packet in TCP.
const REDUCTION = 0.75

// From then on it only waits, for which it has no place in the service either.
const WAITING_PLACE_MS = 2000

// Longer than any request. On workerd one whose client has left may never end.
const PLACE_MS = 120_000

const MIN_PAUSE_MS = 10

export function createSendLimit(retryMs: number): SendLimit {
  let limit = Number.POSITIVE_INFINITY
  let overloads = 0
  let reducedAt = 0
  let progressAt = 0
  let waiting = 0
  /** When each ends, if the request has not left it before. */
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
        // All together check about a thousand times a second.
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
      // Those that were sent before are of the same overload.
      if (sentAt < reducedAt) return
      reducedAt = Date.now()
      overloads++
      limit = overloads === 1 ? FIRST_LIMIT : Math.max(1, limit * REDUCTION)
    },
  }
}
