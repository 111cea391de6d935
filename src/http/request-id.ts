import type { MiddlewareHandler } from 'hono'
import type { Env } from './context.ts'
import { toRequestId } from './problem.ts'

/** Every answer carries the id of its request; what all answers need is set with it. */
export function requestId(basePath: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    const id = toRequestId(c.req.header('X-Request-Id'))
    c.set('requestId', id)
    c.set('basePath', basePath)
    c.set('facts', {})
    await next()
    c.header('X-Request-Id', id)
  }
}
