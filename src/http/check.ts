import type { Context, MiddlewareHandler } from 'hono'
import type { Env } from './context.ts'

/** Rejects a request by throwing a `ServiceError`. */
export type Check = (c: Context<Env>) => void

/** One middleware for several checks, in this order. Hono keeps about a kilobyte for each middleware while a request waits. */
export function check(...checks: Check[]): MiddlewareHandler<Env> {
  return (c, next) => {
    for (const reject of checks) reject(c)
    return next()
  }
}
