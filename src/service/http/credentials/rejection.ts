/**
 * The errors for credentials that are not accepted. They have no details, which would help to forge a credential: only
 * the log has the reason.
 */
import { EXPIRED, RETRY_AFTER_SECONDS } from '../../../shared/jwt/jwt-error.ts'
import { ServiceError } from '../../model/errors.ts'

export function unauthorized(reason: string, cause?: unknown): ServiceError {
  const message =
    reason === HEADER_MISSING
      ? 'The credential in the Authorization header is missing'
      : `The credential of the request is ${reason === EXPIRED ? EXPIRED : 'not valid'}`
  return new ServiceError('UnauthorizedError', message, { cause, reason })
}

export const HEADER_MISSING = 'header missing'

/** Not a 401, because clients would then discard their JWT, which may be valid. */
export function keysUnavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'AuthUnavailableError',
    'The keys of the identity provider cannot be fetched, so the credential cannot be checked; send the request again later',
    { cause, details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  )
}
