/**
 * How many requests of a client the service handles at a time: as many as the client sends, until it is overloaded.
 * From then on one more with each response; and after the next overload a quarter less with each overload, and one more
 * after as many responses as there are places.
 *
 * It keeps times, not promises or timers: on workerd one request must not wait for a promise of another one.
 */
import { sleep } from '../../lib/abort.ts'
import type { Limits } from './request.ts'

export interface SendLimit {
  /** Waits for a place. Returns the function that leaves it; null if there was none before the deadline. */
  enter(limits: Limits): Promise<(() => void) | null>
  /** A request got a response, other than that the service is overloaded. */
  completed(): void
  /** The service was overloaded by the request that was sent at `sentAt`. */
  overloaded(sentAt: number): void
}

// Half of the default of SERVICE_MAX_INFLIGHT: there may be other clients.
const FIRST_LIMIT = 32

// More of the places would be empty with a half, as after a lost packet in TCP.
const REDUCTION = 0.75

// A request that takes longer only waits, for which it has no place in the service either.
const PLACE_MS = 2000

const MIN_PAUSE_MS = 10

export function createSendLimit(): SendLimit {
  let limit = Number.POSITIVE_INFINITY
  let overloads = 0
  let reducedAt = 0
  let waiting = 0
  /** When each was taken, oldest first. */
  const places = new Map<object, number>()

  function hasPlace(): boolean {
    for (const [place, takenAt] of places) {
      if (takenAt > Date.now() - PLACE_MS) break
      places.delete(place)
    }
    return places.size + 1 <= limit
  }

  return {
    async enter({ deadlineAt, signal }) {
      waiting++
      while (!hasPlace() && Date.now() < deadlineAt && !signal?.aborted) {
        // All together check about a thousand times a second.
        const pauseMs = Math.max(MIN_PAUSE_MS, waiting * (0.5 + Math.random()))
        await sleep(Math.min(pauseMs, deadlineAt - Date.now()), signal)
      }
      waiting--
      if (!hasPlace() && !signal?.aborted) return null
      const place = {}
      places.set(place, Date.now())
      return () => places.delete(place)
    },
    completed() {
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
