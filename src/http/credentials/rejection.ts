/** The errors for credentials that are not accepted. They have no details, which would help to forge a credential. */
import { ServiceError } from '../../domain/model/errors.ts'

export function unauthorized(reason: 'missing' | 'expired' | 'not valid', cause?: unknown): ServiceError {
  const credential =
    reason === 'missing' ? 'The credential in the Authorization header' : 'The credential of the request'
  return new ServiceError('UnauthorizedError', `${credential} is ${reason}`, { cause })
}

// If the fetch of a key set fails and there are no older keys, the next fetch begins after this time at the earliest.
export const RETRY_AFTER_SECONDS = 5

/** Not a 401, because clients would then discard their JWT, which may be valid. */
export function keysUnavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'AuthUnavailableError',
    'The keys of the identity provider cannot be fetched, so the credential cannot be checked; send the request again later',
    { cause, details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}
