import { ServiceError } from '../domain/errors.ts'
import type { RequestMetrics } from './observe.ts'
import type { Step } from './step.ts'

/**
 * Rejects a request while `max` others are in flight, before anything was sent to the engine, so that a retry is safe.
 *
 * A request is in flight from the start of its verb until its response is ready, or until the verb calls `startWaiting`.
 * A client that sends its body slowly does not take a place. If all places are taken when a request arrives, its body is
 * not even read.
 */
export function limitInFlight(max: number, metrics: RequestMetrics | null): Step {
  // One for all: under load, creating errors with their stacks would take more time than the rest of the rejection.
  const overloaded = new ServiceError(
    'OverloadedError',
    'The service is handling as many requests as it can; nothing was started. Send the request again later.',
    { details: { retryAfterSeconds: 1 } },
  )
  let inFlight = 0

  function rejectAboveLimit(): void {
    if (inFlight >= max) throw overloaded
  }

  function enter(): () => void {
    rejectAboveLimit()
    inFlight++
    metrics?.inFlightChanged(1)
    let counts = true
    return () => {
      if (!counts) return
      counts = false
      inFlight--
      metrics?.inFlightChanged(-1)
    }
  }

  return (c) => {
    rejectAboveLimit()
    let leave = () => {}
    c.set('startWork', () => (leave = enter()))
    return () => leave()
  }
}
