/**
 * The token in the query string, for the EventSource of browsers, which can send no headers. URLs are written to logs
 * and histories, so only access tokens are accepted there, and only where the response is a stream of events.
 */

import type { Context } from 'hono'
import { invalidValue, type ServiceError } from '../domain/model/errors.ts'
import type { Env, RequestStep } from './context.ts'
import { isAccessToken, URL_TOKEN } from './credentials/access-tokens.ts'
import type { Endpoint } from './endpoint.ts'
import { prefersEvents } from './prefer.ts'
import { setHeader } from './response.ts'

/**
 * Sets `urlToken`, or rejects a request whose URL must not have a token. `endpoint` is null for a path without a route.
 */
export function takeUrlToken(endpoint: Endpoint | null): RequestStep {
  return (c) => {
    if (c.req.method === 'OPTIONS') return
    const tokens = tokensIn(c.req.raw.url)
    const [token] = tokens
    if (token === undefined) return
    setHeader(c, 'Cache-Control', 'no-store')
    setHeader(c, 'Referrer-Policy', 'no-referrer')
    if (endpoint === null || !isEventStream(c, endpoint))
      throw rejected(`is only for streams of events, with Accept: text/event-stream${HEADER}`)
    if (tokens.length > 1 || c.req.header('Authorization') !== undefined)
      throw rejected('must be the only credential of the request')
    if (!isAccessToken(token)) throw rejected(`must be an access token of POST /tokens${HEADER}`)
    c.set('urlToken', `Bearer ${token}`)
  }
}

const HEADER = '; send any other credential in the Authorization header'

/** Never shows the value. */
function rejected(message: string): ServiceError {
  return invalidValue(`/${URL_TOKEN}`, message)
}

/** An endpoint that can respond with JSON too responds with events only if `Accept` prefers them. */
function isEventStream(c: Context<Env>, { responses }: Endpoint): boolean {
  const { events, schema } = responses[200] ?? {}
  return c.req.method === 'GET' && events !== undefined && (schema === undefined || prefersEvents(c))
}

function tokensIn(url: string): string[] {
  const at = url.indexOf('?')
  // Most requests have no query string.
  return at === -1 ? [] : new URLSearchParams(url.slice(at)).getAll(URL_TOKEN)
}
