import type { MiddlewareHandler } from 'hono'
import type { Env } from './context.ts'
import { toRequestId } from './problem.ts'

/** Sets the request id, also as a response header, and the other variables that every response needs. */
export function requestId(basePath: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    const id = toRequestId(c.req.header('X-Request-Id'))
    c.set('requestId', id)
    c.set('basePath', basePath)
    c.set('facts', {})
    // Not after `next`: to add a header to a response, Hono copies it.
    c.header('X-Request-Id', id)
    await next()
  }
}
