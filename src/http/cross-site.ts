/** What a web page must not make its visitor's browser do here: the browser adds the token it has kept, or none is needed. */
import type { Context, MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'
import { isAllowedOrigin } from './cors.ts'

/**
 * Refuses requests that change something and come from a page of another site, unless CORS allows its origin. A request without a
 * body needs no preflight, so CORS alone does not stop it.
 */
export function refuseCrossSite(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
    if (changes && isCrossSite(c) && !isAllowedOrigin(origins, c.req.header('Origin'))) {
      const site = c.req.header('Origin')?.slice(0, MAX_SHOWN_ORIGIN) ?? 'another site'
      throw new ServiceError(
        'ForbiddenError',
        `Cross-site request from ${site} rejected; add the origin to SERVICE_CORS_ORIGINS to allow it`,
      )
    }
    await next()
  }
}

const MAX_SHOWN_ORIGIN = 200

/** Browsers send `Sec-Fetch-Site` to https and loopback only; elsewhere only `Origin` says where the page is from. */
function isCrossSite(c: Context): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  if (site === 'cross-site') return true
  // Set by the browser, and no page can forge it; behind a proxy that rewrites Host, `Origin` would be another host.
  if (site === 'same-origin' || site === 'none') return false
  const origin = c.req.header('Origin')
  return origin !== undefined && hostOfOrigin(origin) !== hostOf(c)
}

/** Null for what is not a URL, like the `null` of sandboxed pages. */
function hostOfOrigin(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

function hostOf(c: Context): string {
  return (c.req.header('Host') ?? new URL(c.req.url).host).toLowerCase()
}

const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/

/**
 * Refuses names that are not this machine's own. Where no token is needed, a page whose host name is made to resolve to
 * 127.0.0.1 (DNS rebinding) would be of the same origin as the service, and could read as well as write.
 */
export const requireLoopbackHost: MiddlewareHandler = async (c, next) => {
  if (!LOOPBACK_HOST.test(hostOf(c))) {
    throw new ServiceError(
      'ForbiddenError',
      'Without a token, the Host header must be localhost, 127.0.0.1 or [::1]; set SERVICE_API_AUTH_TOKEN, or SERVICE_ALLOW_ANONYMOUS=true',
    )
  }
  await next()
}
