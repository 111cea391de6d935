import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'
import type { Env } from './context.ts'
import type { RequestMetrics } from './observe.ts'

/**
 * Rejects a request while `max` others are in flight. It does so before the request's body is read and before the engine
 * is called, so that a retry is safe.
 *
 * A request is in flight until its response is ready, or until its verb calls `startWaiting`.
 */
export function limitInFlight(max: number, metrics: RequestMetrics | null): MiddlewareHandler<Env> {
  // One for all: under load, creating errors with their stacks would take more time than the rest of the rejection.
  const overloaded = new ServiceError(
    'OverloadedError',
    'The service is handling as many requests as it can; nothing was started. Send the request again later.',
    { details: { retryAfterSeconds: 1 } },
  )
  let inFlight = 0

  return async (c, next) => {
    if (inFlight >= max) throw overloaded
    inFlight++
    metrics?.inFlightChanged(1)
    let counts = true
    const leave = () => {
      if (!counts) return
      counts = false
      inFlight--
      metrics?.inFlightChanged(-1)
    }
    c.set('startWaiting', leave)
    try {
      await next()
    } finally {
      leave()
    }
  }
}
