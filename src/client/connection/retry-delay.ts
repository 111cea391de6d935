import { PorticoError } from '../portico-error.ts'

const RETRYABLE: readonly (number | null)[] = [null, 408, 429, 502, 503, 504]

// Without `Retry-After`, the request may have been carried out.
const UNCERTAIN = ['RequestTimeoutError', 'EngineUnavailableError', 'ResourceExhaustedError']

const MAX_BACKOFF_MS = 5000

/** Whether there is no response of the service: the connection was cut, or a proxy has responded. */
export function isForeign({ error }: Pick<PorticoError, 'error'>): boolean {
  return error === 'ConnectionError' || error === 'UnexpectedResponseError'
}

/**
 * How long to wait before the request is sent again; null if it must not be.
 *
 * With `Retry-After` the service says that nothing is done twice. After errors of others, and after errors that leave
 * open whether the request was carried out, only a request that can be repeated is sent again.
 */
export function retryDelayMs(error: unknown, isRetryable: boolean, attempts: number): number | null {
  if (!(error instanceof PorticoError)) return null
  const { status, retryAfterMs } = error
  const isUncertain = isForeign(error) || (UNCERTAIN.includes(error.error) && retryAfterMs === undefined)
  const isSafe = isUncertain ? isRetryable : retryAfterMs !== undefined
  // A wait that was not long enough is not an error: the next one follows at once.
  if (!isSafe || !RETRYABLE.includes(status) || error.error === 'WorkflowExecutionTimedOutError') return null
  const backoffMs = Math.min(100 * 2 ** attempts, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2)
  return Math.max(retryAfterMs ?? 0, backoffMs)
}
