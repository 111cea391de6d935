/** Responses to requests for which no route exists. */
import type { Context } from 'hono'
import { ServiceError } from '../domain/errors.ts'
import type { Env } from './context.ts'
import { problemResponse } from './errors.ts'
import { rawPath } from './path.ts'
import { respond, setHeader } from './response.ts'

const MAX_SHOWN_PATH = 200

export function notFound(c: Context<Env>): Response {
  const path = rawPath(c.req.raw).slice(0, MAX_SHOWN_PATH)
  return problemResponse(c, new ServiceError('NotFoundError', `Route ${path} not found`))
}

/** For a route that exists with other methods: a 204 that lists them for OPTIONS, a 405 for anything else. */
export function methodNotAllowed(c: Context<Env>, methods: string[]): Response {
  if (c.req.method === 'OPTIONS') {
    // Hono has already created a 404; drop its log fields and its content type.
    c.set('facts', {})
    return respond(c, null, 204, { Allow: methods.join(', ') })
  }
  setHeader(c, 'Allow', methods.join(', '))
  return problemResponse(
    c,
    new ServiceError('MethodNotAllowedError', `Method ${c.req.method} is not allowed; use ${methods.join(', ')}`),
  )
}
