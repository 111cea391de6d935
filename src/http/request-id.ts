import type { MiddlewareHandler } from 'hono'
import type { Env } from './context.ts'

const ACCEPTED = /^[\w.-]{1,128}$/

/** The caller's own id of a request when it is a plain one, otherwise a new one. */
export function toRequestId(given: string | undefined): string {
  return given !== undefined && ACCEPTED.test(given) ? given : crypto.randomUUID()
}

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
