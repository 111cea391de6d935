/** The CORS protocol: https://fetch.spec.whatwg.org/#http-cors-protocol */
import type { Context } from 'hono'
import type { Env, RequestStep } from './context.ts'
import { respond } from './response.ts'

const METHODS = 'GET,HEAD,POST,PATCH'
const EXPOSED =
  'Location,Deprecation,Sunset,Link,ETag,Retry-After,Preference-Applied,X-Request-Id,Portico-Error-Source,Portico-Workflow-Id,Portico-Run-Id,Portico-Started,Portico-Output-Warning,Portico-Warning,Idempotency-Replayed,X-Workflow-Stream-Tail-Index,X-Workflow-Run-Id'
const MAX_AGE_SECONDS = '600'

/** Whether the list contains the origin, or `*`, which allows every origin. */
export function isAllowedOrigin(origins: readonly string[], origin: string | undefined): origin is string {
  return origin !== undefined && (origins.includes('*') || origins.includes(origin))
}

/** Responds to preflights, and lets pages of allowed origins read every response. */
export function allowOrigins(origins: readonly string[]): RequestStep {
  return (c) => {
    const origin = c.req.header('Origin')
    Object.assign(c.get('headers'), corsHeaders(origins, origin))
    return isAllowedOrigin(origins, origin) && isPreflight(c) ? preflight(c) : undefined
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
