import { ServiceError } from '../../model/errors.ts'

/** Limits the memory that many requests use together. */
export interface ByteBudget {
  open(): ByteShare
}

/** What one request uses. */
export interface ByteShare {
  /** Throws an `OverloadedError` if all requests together would use more than the budget. */
  take(bytes: number): void
  /** Gives everything back. */
  close(): void
}

// Shared by all rejections, like `OVERLOADED`.
const FULL = new ServiceError(
  'OverloadedError',
  'The service is receiving as many bodies of webhooks as it can; nothing was done. Send the request again later.',
  { details: { retryAfterSeconds: 1 } },
)

export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0
  return {
    open() {
      let own = 0
      return {
        take(bytes) {
          if (used + bytes > maxBytes) throw FULL
          used += bytes
          own += bytes
        },
        close() {
          used -= own
          own = 0
        },
      }
    },
  }
}
