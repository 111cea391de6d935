import { isRetryable } from './errors.ts'
import { RpcError } from './transport/transport.ts'

// The delay before each retry. Together they take 1.85 s of the 5 s that a request has.
const BACKOFF_MS = [100, 250, 500, 1000]

export interface FailedAttempt {
  error: RpcError
  /** How many retries there have been so far. */
  retries: number
  /** Whether an earlier attempt may have reached the engine. */
  mayHaveArrived: boolean
  /** Whether the call must not be sent again once an attempt may have reached the engine. */
  stopWhenSent: boolean
  /** Time until the deadline of the call. */
  remainingMs: number
}

export type RetryDecision =
  | { retry: false; error: RpcError }
  /** `mayHaveArrived` includes the attempt that failed. */
  | { retry: true; delayMs: number; mayHaveArrived: boolean }

/** Whether a failed attempt is followed by another one. */
export function decideRetry(attempt: FailedAttempt): RetryDecision {
  const { error, retries, stopWhenSent, remainingMs } = attempt
  const mayHaveArrived = attempt.mayHaveArrived || error.mayHaveBeenSent
  const delayMs = BACKOFF_MS[retries]
  if (delayMs !== undefined && delayMs < remainingMs && isRetryable(error) && !(stopWhenSent && mayHaveArrived))
    return { retry: true, delayMs, mayHaveArrived }
  return { retry: false, error: attempt.mayHaveArrived ? withPossibleEffect(error) : error }
}

/** The same error, marked as having possibly had an effect: an earlier attempt may have reached the engine. */
export function withPossibleEffect(error: RpcError): RpcError {
  return new RpcError(error.message, {
    code: error.code,
    details: error.details,
    mayHaveBeenSent: true,
    mayHaveTakenEffect: true,
    cause: error,
  })
}
