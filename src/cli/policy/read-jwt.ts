/** Reads a JWT as the service does. Loads jose. */

import { claimValue } from '../../shared/access/patterns.ts'
import type { Policy } from '../../shared/config/policy.ts'
import { JwtRejection, KeysUnavailable } from '../../shared/jwt/jwt-error.ts'
import { createJwtVerifier, unverifiedClaims } from '../../shared/jwt/verify-jwt.ts'
import { UsageError } from '../failures.ts'
import { type JwtExplanation, KEYS_UNAVAILABLE } from './explained-jwt.ts'

interface Options {
  fetch?: typeof globalThis.fetch
}

/** Fetches the keys of the issuer. Throws a `UsageError` for what is not a JWT. */
export async function readJwt(
  jwt: string,
  { issuers }: Pick<Policy, 'issuers'>,
  options: Options = {},
): Promise<JwtExplanation> {
  const claims = unverifiedClaims(jwt)
  if (claims === null) throw new UsageError('--jwt: this is not a JWT')
  const [name = null, issuer] = Object.entries(issuers).find(([, { issuer }]) => issuer === claims.iss) ?? []
  const verifier = createJwtVerifier({ ...options, onKeysUnavailable() {} })
  const rejected = await verifier.verify(jwt, issuers).then(() => null, reasonOf)
  return {
    issuer: name,
    audience: [claimValue(claims, issuer?.audienceClaim ?? 'aud')].flat().filter((value) => value !== undefined),
    scopes: [claims.scope, claims.scp].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : [])),
    claims,
    rejected,
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof KeysUnavailable) return KEYS_UNAVAILABLE
  if (error instanceof JwtRejection) return error.reason
  throw error
}
