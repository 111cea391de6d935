import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'
import { anyEqual } from '../lib/any-equal.ts'

/** Requires one of the tokens, as `Basic <token>`, `Bearer <token>` or `Basic base64(<any user>:<token>)`. */
export function requireToken(tokens: string[]): MiddlewareHandler {
  let expected: Uint8Array[] | undefined
  return async (c, next) => {
    expected ??= await Promise.all(tokens.map(digest))
    const presented = await Promise.all(presentedTokens(c.req.header('Authorization') ?? '').map(digest))
    if (!anyEqual(presented, expected))
      throw new ServiceError('UnauthorizedError', 'Missing or invalid token in the Authorization header')
    await next()
  }
}

function presentedTokens(authorization: string): string[] {
  const [, scheme = '', credentials = ''] = /^(basic|bearer) +(.+)$/i.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials === '' ? [] : [credentials]
  return [credentials, ...passwordOf(credentials)]
}

function passwordOf(credentials: string): string[] {
  // atob throws for padding of the wrong length, but not for missing padding.
  const unpadded = credentials.replace(/=+$/, '')
  if (!/^[A-Za-z\d+/]+$/.test(unpadded) || unpadded.length % 4 === 1) return []
  const pair = atob(unpadded)
  return pair.includes(':') ? [pair.slice(pair.indexOf(':') + 1)] : []
}

async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
}
