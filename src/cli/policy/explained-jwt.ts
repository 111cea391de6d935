/** What a JWT says, and whether the service accepts it. */
import type { Identity } from '../../shared/access/caller.ts'

export interface JwtExplanation {
  /** Its name in the policy; null if the policy does not have it. */
  issuer: string | null
  audience: unknown[]
  scopes: string[]
  claims: Readonly<Record<string, unknown>>
  /** The reason that the service logs for it. Null if the JWT is valid. */
  rejected: string | null
}

/** The rejection of a JWT that may be valid. */
export const KEYS_UNAVAILABLE = 'keys unavailable'

/** Whom the rules would see if the JWT were valid. Without a known issuer or a subject no rule applies. */
export function identityOfJwt({ issuer, claims }: JwtExplanation): Identity {
  return typeof claims.sub === 'string' ? { jwt: issuer ?? '', claims } : { jwt: '', claims: { ...claims, sub: '' } }
}
