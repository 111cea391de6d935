/** Why a JWT is not accepted. Loads nothing, so that those who only catch the errors do not load jose. */

/** The JWT is not valid. `reason` is a word for operators: it could help to forge a JWT. */
export class JwtRejection extends Error {
  override readonly name = 'JwtRejection'
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super(`The JWT is rejected: ${reason}`, { cause })
    this.reason = reason
  }
}

/** The JWT may be valid: the keys of its issuer cannot be fetched. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'

  constructor(cause: unknown) {
    super('The keys of the identity provider cannot be fetched', { cause })
  }
}

export const EXPIRED = 'expired'

// If the fetch of a key set fails and there are no older keys, the next fetch begins after this time at the earliest.
export const RETRY_AFTER_SECONDS = 5
