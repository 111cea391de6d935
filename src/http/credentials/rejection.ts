/** Why a credential is rejected. The response says no more than these words: details would help to forge one. */
import { ServiceError } from '../../domain/model/errors.ts'

export function unauthorized(reason: 'missing' | 'expired' | 'not valid', cause?: unknown): ServiceError {
  const credential =
    reason === 'missing' ? 'The credential in the Authorization header' : 'The credential of the request'
  return new ServiceError('UnauthorizedError', `${credential} is ${reason}`, { cause })
}

// After this time a key set without keys is fetched again.
export const RETRY_AFTER_SECONDS = 5

/** Not a 401, after which clients would discard a valid JWT. */
export function keysUnavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'AuthUnavailableError',
    'The keys of the identity provider cannot be fetched, so the credential cannot be checked; send the request again later',
    { cause, details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}
