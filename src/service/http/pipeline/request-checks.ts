/**
 * Checks that need nothing but the head of a request: of its site, host and path, before its caller is known, and of
 * its `Idempotency-Key`, with the headers that say how the key was used.
 */
import type { Context } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import { type Env, type RequestCheck, type RequestHead, type RequestStep, setHeader } from '../context.ts'
import { isAllowedOrigin } from './cors.ts'

/**
 * Rejects requests from pages of other sites, except GET, HEAD and OPTIONS, unless CORS allows the origin. Such a page
 * could use the token that the browser has stored for this service, or a service that requires no token.
 *
 * CORS alone does not stop them: browsers send requests without a body before any preflight. `*` does not allow those
 * with a password that the browser has stored, because it adds that to requests of any page.
 */
export function rejectCrossSite(origins: readonly string[]): RequestCheck {
  const listed = origins.filter((origin) => origin !== '*')
  return (c) => {
    const hasEffect = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
    const allowed = hasStoredPassword(c) ? listed : origins
    if (hasEffect && isCrossSite(c) && !isFormOfLink(c) && !isAllowedOrigin(allowed, c.req.header('Origin'))) {
      const site = c.req.header('Origin')?.slice(0, MAX_SHOWN_ORIGIN) ?? 'another site'
      throw new ServiceError(
        'ForbiddenError',
        `Cross-site request from ${site} rejected; add the origin to SERVICE_CORS_ORIGINS to allow it`,
      )
    }
  }
}

const MAX_SHOWN_ORIGIN = 200

function hasStoredPassword({ req }: RequestHead): boolean {
  return /^basic\s/i.test(req.header('Authorization') ?? '')
}

/**
 * Whether the request may be the form on the page of a link, from a browser that does not send `Sec-Fetch-Site`. The
 * page has the policy `no-referrer`, so its origin is `null`. Another site can send the same, but would have to know
 * the token in the path, which is all that a link requires.
 */
function isFormOfLink({ req }: RequestHead): boolean {
  const hasNoSite = req.header('Sec-Fetch-Site') === undefined && req.header('Origin') === 'null'
  return hasNoSite && req.path.startsWith('/links/')
}

/** Browsers send `Sec-Fetch-Site` only to HTTPS and loopback URLs; for others, `Origin` is compared with `Host`. */
function isCrossSite(c: RequestHead): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  if (site === 'cross-site') return true
  // No page can forge this header. `Origin` must not be compared here:
  // behind a proxy that rewrites `Host`, the two differ.
  if (site === 'same-origin' || site === 'none') return false
  const origin = c.req.header('Origin')
  return origin !== undefined && hostOfOrigin(origin) !== hostOf(c)
}

/** Null when the origin is not a URL: sandboxed pages send `null`. */
function hostOfOrigin(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

function hostOf(c: RequestHead): string {
  return canonicalHost(c.req.header('Host') ?? new URL(c.req.url).host).toLowerCase()
}

/** A `Host` header whose IPv6 address is written in the form of URLs. Other headers are unchanged. */
export function canonicalHost(host: string): string {
  const url = `http://${host}`
  return host.startsWith('[') && URL.canParse(url) ? new URL(url).host : host
}

const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/

/**
 * Rejects requests whose `Host` is not loopback, which protects a service without a token against DNS rebinding.
 *
 * A page whose host name resolves to 127.0.0.1 has the same origin as the service, and could read and write.
 */
export const requireLoopbackHost: RequestCheck = (c) => {
  if (!LOOPBACK_HOST.test(hostOf(c))) {
    throw new ServiceError(
      'ForbiddenError',
      'Without a token, the Host header must be localhost, 127.0.0.1 or [::1]; set SERVICE_API_AUTH_TOKEN, or SERVICE_ALLOW_ANONYMOUS=true',
    )
  }
}

// URL parsers resolve such segments, and read a backslash as a slash: https://url.spec.whatwg.org/#path-state
const DOT_SEGMENT = /^[^?#]*[/\\](?:\.|%2e){1,2}(?=[/\\?#]|$)/i

export const DOT_SEGMENT_MESSAGE = 'The path must not contain the segments "." and "..", also not percent-encoded'

/** Whether a segment of the path is `.` or `..`, also percent-encoded. The URL may have a scheme and a host. */
export function hasDotSegment({ url }: { url: string }): boolean {
  return DOT_SEGMENT.test(url)
}

/**
 * Rejects the segments `.` and `..`: a proxy may have allowed another path than the one that they lead to. For runtimes
 * that pass the path as it was sent; Bun has resolved these segments before.
 */
export const rejectDotSegments: RequestCheck = ({ req }) => {
  if (hasDotSegment(req)) throw new ServiceError('ValidationError', DOT_SEGMENT_MESSAGE)
}

const KEY_HEADER = 'Idempotency-Key'

const VISIBLE_ASCII = /^[!-~]{1,255}$/

/** Rejects an `Idempotency-Key` that is not valid. */
export const checkIdempotencyKey: RequestCheck = (c) => {
  const key = c.req.header(KEY_HEADER)
  if (key !== undefined && !VISIBLE_ASCII.test(key))
    throw new ServiceError('ValidationError', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters')
  return undefined
}

/** Rejects any key. A client that sends one relies on it, so ignoring it could execute a request twice. */
export const rejectIdempotencyKey: RequestCheck = (c) => {
  if (c.req.header(KEY_HEADER) !== undefined)
    throw new ServiceError(
      'NotSupportedError',
      'Idempotency-Key is not supported for this request, which was not executed. Run, start, signal, update, signal-with-start, update-with-start, and the end of an activity support it',
    )
  return undefined
}

/** The valid key of the request, to spread into a command. */
export function idempotencyKey(c: Context<Env>): { idempotencyKey?: string } {
  const key = c.req.header(KEY_HEADER)
  return key === undefined ? {} : { idempotencyKey: key }
}

const REPLAYED = 'Idempotency-Replayed'

/**
 * Every response to a start with a key has the header `Idempotency-Replayed`, unless an earlier step rejects the
 * request. It is `false` until `reportReplayed` is called.
 */
export const notReplayed: RequestStep = (c) => {
  if (c.req.header(KEY_HEADER) !== undefined) setHeader(c, REPLAYED, 'false')
  return undefined
}

/** Call this if the response describes a run that an earlier request with the same key has started. */
export function reportReplayed(c: Context<Env>): void {
  setHeader(c, REPLAYED, 'true')
}
