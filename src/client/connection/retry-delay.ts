import { wasNotSent } from '../../shared/lib/not-sent.ts'
import { PorticoError } from '../portico-error.ts'

const RETRYABLE: readonly (number | null)[] = [null, 408, 429, 502, 503, 504]

// Without `Retry-After`, the request may have been carried out.
const UNCERTAIN = ['RequestTimeoutError', 'EngineUnavailableError', 'ResourceExhaustedError']

// The request was carried out, or may have been.
const CARRIED_OUT = ['DeadlineExceededError', 'InternalError', 'OutcomeUnknownError', 'ResultUnreadableError']

const MAX_BACKOFF_MS = 5000

/** Whether there is no response of the service: the connection was cut, or a proxy has responded. */
export function isForeign({ error }: Pick<PorticoError, 'error'>): boolean {
  return error === 'ConnectionError' || error === 'UnexpectedResponseError'
}

/** The error of a client that has ended the attempt itself, at the deadline of the call. */
export function noResponse(request: string, timeoutMs: number, cause?: unknown): PorticoError {
  return new PorticoError(
    'DeadlineExceededError',
    `${request}: no response within ${timeoutMs} ms`,
    { status: null },
    cause,
  )
}

/** Whether it is the error of `noResponse`. */
export function isNoResponse({ error, status }: PorticoError): boolean {
  return error === 'DeadlineExceededError' && status === null
}

/** Whether a request that has failed with this error, and that changes something, may have been carried out. */
export function mayHaveTakenEffect(error: PorticoError): boolean {
  const { status, cause } = error
  // A proxy that responds with another status has not passed the request on.
  if (isForeign(error)) return (status === null || status === 408 || status >= 500) && !wasNotSent(cause)
  return isUncertain(error) || CARRIED_OUT.includes(error.error)
}

/**
 * How long to wait before the request is sent again; null if it must not be. `attempts`: how often it was sent.
 *
 * `Retry-After` means that the request is not carried out twice. After errors of proxies, and after errors that do not
 * say whether the request was carried out, only a retryable request is sent again.
 */
export function resendDelayMs(error: PorticoError, isRetryable: boolean, attempts: number): number | null {
  const { status, retryAfterMs, cause } = error
  const isSafe = isForeign(error) || isUncertain(error) ? isRetryable || wasNotSent(cause) : retryAfterMs !== undefined
  // A wait that was too short is not a failure: the next one follows at once.
  if (!isSafe || !RETRYABLE.includes(status) || error.error === 'WorkflowExecutionTimedOutError') return null
  const backoffMs = Math.min(50 * 2 ** attempts, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2)
  // A proxy may send 0.
  return retryAfterMs || backoffMs
}

function isUncertain({ error, retryAfterMs }: PorticoError): boolean {
  return UNCERTAIN.includes(error) && retryAfterMs === undefined
}
