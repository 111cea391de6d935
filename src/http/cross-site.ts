import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'

/**
 * Refuses what a page of another site makes a browser send in its user's name: a request without a body needs no preflight,
 * and the browser adds the token it has kept, or none is needed on loopback.
 *
 * Browsers alone send `Sec-Fetch-Site`, and no page can set it. Origins that CORS lets in may.
 */
export function refuseCrossSite(origins: string[]): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('Origin')
    const isAllowed = origins.includes('*') || (origin !== undefined && origins.includes(origin))
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method)
    if (changes && c.req.header('Sec-Fetch-Site') === 'cross-site' && !isAllowed) {
      throw new ServiceError('ForbiddenError', 'A page of another site may not do this; SERVICE_CORS_ORIGINS names those that may')
    }
    await next()
  }
}
