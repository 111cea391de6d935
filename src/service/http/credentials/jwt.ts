/** Verifies JWTs of the issuers of a policy. Loaded with the first one, because only some policies have issuers. */
import { JwtRejection, KeysUnavailable } from '../../../shared/jwt/jwt-error.ts'
import * as shared from '../../../shared/jwt/verify-jwt.ts'
import { keysUnavailable, unauthorized } from './rejection.ts'

export type { Issuer, Issuers, JwtVerifierOptions } from '../../../shared/jwt/verify-jwt.ts'

/** Rejects with an `UnauthorizedError`, or with an `AuthUnavailableError` if the keys cannot be fetched. */
export function createJwtVerifier(options: shared.JwtVerifierOptions): shared.JwtVerifier {
  const verifier = shared.createJwtVerifier(options)
  return {
    ...verifier,
    async verify(jwt, issuers) {
      try {
        return await verifier.verify(jwt, issuers)
      } catch (error) {
        if (error instanceof JwtRejection) throw unauthorized(error.reason, error.cause)
        throw error instanceof KeysUnavailable ? keysUnavailable(error.cause) : error
      }
    },
  }
}
