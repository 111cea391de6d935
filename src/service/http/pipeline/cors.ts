/** The CORS protocol: https://fetch.spec.whatwg.org/#http-cors-protocol */
import type { Context } from 'hono'
import { type Env, type RequestStep, respond } from '../context.ts'

const METHODS = 'GET,HEAD,POST,PATCH,PUT,DELETE'
const EXPOSED =
  'Location,Deprecation,Sunset,Link,ETag,Retry-After,Preference-Applied,X-Request-Id,Portico-Error-Source,Portico-Workflow-Id,Portico-Activity-Id,Portico-Run-Id,Portico-Started,Portico-Output-Warning,Portico-Warning,Idempotency-Replayed,X-Workflow-Stream-Tail-Index,X-Workflow-Run-Id'
const MAX_AGE_SECONDS = '600'

/** Whether the list contains the origin, or `*`, which allows every origin. */
export function isAllowedOrigin(origins: readonly string[], origin: string | undefined): origin is string {
  return origin !== undefined && (origins.includes('*') || origins.includes(origin))
}

/** Lets pages of allowed origins read every response. */
export function allowOrigins(origins: readonly string[]): RequestStep {
  return (c) => void Object.assign(c.get('headers'), corsHeaders(origins, c.req.header('Origin')))
}

/** Responds to preflights of pages of allowed origins. */
export function answerPreflights(origins: readonly string[]): RequestStep {
  const isNew = rememberedFor(WARN_EVERY_MS)
  return (c) => {
    const origin = c.req.header('Origin')
    if (!isPreflight(c)) return undefined
    if (isAllowedOrigin(origins, origin)) return preflight(c)
    const shown = (origin ?? '').slice(0, MAX_SHOWN_ORIGIN)
    if (shown !== '' && isNew(shown))
      c.get('log')('warn', 'a page of an origin that is not in SERVICE_CORS_ORIGINS was rejected', { origin: shown })
    return undefined
  }
}

const WARN_EVERY_MS = 3_600_000
const MAX_SHOWN_ORIGIN = 200

// Anyone can send any origin: with so many in the same hour, no further one is a warning.
const MAX_WARNED = 100

/** Whether the text was not given in the time before. */
function rememberedFor(ms: number): (text: string) => boolean {
  const times = new Map<string, number>()
  return (text) => {
    const now = Date.now()
    for (const [known, at] of times) if (now - at >= ms) times.delete(known)
    if (times.has(text) || times.size >= MAX_WARNED) return false
    times.set(text, now)
    return true
  }
}

/** The headers of every response to a request with this `Origin`. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.length === 0) return {}
  const forAll = origins.includes('*')
  return {
    ...(!forAll && { Vary: 'Origin' }),
    ...(isAllowedOrigin(origins, origin) && {
      'Access-Control-Allow-Origin': forAll ? '*' : origin,
      // Pages that send credentials of the browser can read no response without it.
      ...(!forAll && { 'Access-Control-Allow-Credentials': 'true' }),
      'Access-Control-Expose-Headers': EXPOSED,
    }),
  }
}

/** Without this header an OPTIONS request is not a preflight: it requests the methods of a route. */
function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.header('Access-Control-Request-Method') !== undefined
}

/** Allows every requested header, because tracing libraries add their own to each request of a page. */
function preflight(c: Context<Env>): Response {
  const requested = c.req.header('Access-Control-Request-Headers')
  return respond(c, null, 204, {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': MAX_AGE_SECONDS,
    ...(requested !== undefined && { 'Access-Control-Allow-Headers': requested }),
  })
}
