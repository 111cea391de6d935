import type { MiddlewareHandler } from 'hono'
import type { Env } from './context.ts'

const ACCEPTED = /^[\w.-]{1,128}$/

/** Every answer carries the id of its request: the caller's own when it is a plain one. */
export const requestId: MiddlewareHandler<Env> = async (c, next) => {
  const given = c.req.header('X-Request-Id')
  const id = given !== undefined && ACCEPTED.test(given) ? given : crypto.randomUUID()
  c.set('requestId', id)
  c.set('facts', {})
  await next()
  c.header('X-Request-Id', id)
}
