import { ServiceError } from '../domain/errors.ts'
import type { RequestMetrics } from './observe.ts'
import type { Step } from './step.ts'

/**
 * How many requests may be in flight. The others are rejected before anything was sent to the engine, so that a retry
 * is safe.
 *
 * A request is in flight from the start of its verb until its response is ready, or until the verb calls
 * `startWaiting`. A client that sends its body slowly does not take a place. If all places are taken when a request
 * arrives, its body is not even read.
 */
export interface InFlightLimit {
  isReached(): boolean
  /** Takes a place, or throws `OVERLOADED`. Returns the function that leaves the place. */
  enter(): () => void
}

// One for all: under load, creating errors with their stacks would take more time than the rest of the rejection.
export const OVERLOADED = new ServiceError(
  'OverloadedError',
  'The service is handling as many requests as it can; nothing was started. Send the request again later.',
  { details: { retryAfterSeconds: 1 } },
)

export function createInFlightLimit(max: number, metrics: RequestMetrics | null): InFlightLimit {
  let inFlight = 0
  const isReached = () => inFlight >= max

  return {
    isReached,
    enter() {
      if (isReached()) throw OVERLOADED
      inFlight++
      metrics?.inFlightChanged(1)
      let counts = true
      return () => {
        if (!counts) return
        counts = false
        inFlight--
        metrics?.inFlightChanged(-1)
      }
    },
  }
}

/** Counts each request of a route once, whatever its handler does, and rejects those beyond the limit. */
export function limitInFlight(limit: InFlightLimit): Step {
  return (c) => {
    if (limit.isReached()) throw OVERLOADED
    let leave: (() => void) | undefined
    c.set('startWork', () => (leave ??= limit.enter()))
    return () => leave?.()
  }
}
