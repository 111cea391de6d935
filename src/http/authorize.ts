/** Steps that identify the caller of a request, and reject callers that no rule allows such a request. */
import type { Context } from 'hono'
import { forbidden } from '../domain/access/decide.ts'
import { mayUse } from '../domain/access/grant.ts'
import type { Caller } from '../domain/model/caller.ts'
import { invalidValue, type ServiceError } from '../domain/model/errors.ts'
import type { Env, RequestCheck, RequestStep } from './context.ts'
import { isAccessToken, URL_TOKEN } from './credentials/access-tokens.ts'
import type { Callers } from './credentials/callers.ts'
import { unauthorized } from './credentials/rejection.ts'
import type { Access, Endpoint } from './endpoint.ts'
import { prefersEvents } from './prefer.ts'
import { setHeader } from './response.ts'

/**
 * Sets `urlToken`, or rejects a request whose URL must not have a token. `endpoint` is null for a path without a route.
 *
 * The EventSource of browsers cannot send headers, so it sends the token in the URL. Logs and browser histories contain
 * URLs. Therefore a URL may only contain an access token, and only if the response is a stream of events.
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
      throw rejectedInUrl(`is only for streams of events, with Accept: text/event-stream${USE_HEADER}`)
    if (tokens.length > 1 || c.req.header('Authorization') !== undefined)
      throw rejectedInUrl('must be the only credential of the request')
    if (!isAccessToken(token)) throw rejectedInUrl(`must be an access token of POST /tokens${USE_HEADER}`)
    c.set('urlToken', `Bearer ${token}`)
  }
}

const USE_HEADER = '; send any other credential in the Authorization header'

/** Never shows the value. */
function rejectedInUrl(message: string): ServiceError {
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

/** Sets `caller`, or rejects the request. */
export function authenticate(callers: Callers): RequestStep {
  return (c) => {
    const caller = callers.identify(c.get('urlToken') ?? c.req.header('Authorization'))
    if (caller instanceof Promise) return caller.then((found) => setCaller(c, found))
    return setCaller(c, caller)
  }
}

/** Throws unless `authenticate` would find the caller without a promise. For checks before a request reaches an app. */
export function requireKnownCaller(callers: Callers): RequestCheck {
  return (c) => {
    if (!callers.knows(c.req.header('Authorization'))) throw UNKNOWN_YET
  }
}

// Never sent to a client, so all requests share one error: a new one each time would record a stack.
const UNKNOWN_YET = unauthorized('not valid')

/**
 * Rejects callers that have no rule with this right, before the body is read. The domain decides later which runs the
 * rules allow.
 */
export function authorize(access: Access): RequestStep {
  return (c) => {
    const caller = c.get('caller')
    if (caller === undefined || mayUse(caller, access)) return
    Object.assign(c.get('audit'), { action: access, rule: 'none' })
    throw forbidden(access)
  }
}

function setCaller(c: Context<Env>, caller: Caller): undefined {
  c.set('caller', caller)
}
