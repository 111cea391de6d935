import { deadlineSignal, retryWithBackoff } from '../lib/abort.ts'
import { readText } from '../lib/read-text.ts'

/** How long one operation on a store may take. */
export interface StoreCall {
  /** Aborts when the result is no longer needed. */
  signal: AbortSignal
  /** Epoch milliseconds. */
  deadlineAt: number
  /** Called when the store responds, before the operation ends. */
  onResponse?: () => void
}

/** A failed operation. The message can be shown to anyone: it contains no address, no secret and no request data. */
export class StoreError extends Error {
  /** Whether the same operation may succeed later. */
  readonly retryable: boolean
  /** The store's `Retry-After`. */
  readonly retryAfterMs: number

  constructor(message: string, { retryable = false, retryAfterMs = 0 } = {}) {
    super(message)
    this.name = 'StoreError'
    this.retryable = retryable
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Runs `act` up to five times while it fails with a retryable error and the deadline allows. Rejects with a
 * `StoreError`, or with the reason of `call.signal` when that aborts. `act` must reject when its signal aborts.
 *
 * `store` is the subject of the messages, like "The object storage".
 */
export async function retryStoreCall<T>(
  store: string,
  call: StoreCall,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = deadlineSignal(call.deadlineAt, call.signal)
  async function attempt(): Promise<T> {
    signal.throwIfAborted()
    return act(signal)
  }
  function delayMs(error: unknown, retries: number): number {
    signal.throwIfAborted()
    const failure = error instanceof StoreError ? error : unreachable(store, error)
    const delay = retryDelayMs(failure, retries, call.deadlineAt - Date.now())
    if (delay === null) throw failure
    return delay
  }
  try {
    return await retryWithBackoff(attempt, { delayMs, signal })
  } catch (error) {
    call.signal.throwIfAborted()
    throw signal.aborted ? new StoreError(`${store} did not respond in time`, { retryable: true }) : error
  } finally {
    release()
  }
}

const BACKOFF_MS = [50, 150, 400, 1000]

/** How long to wait before the next attempt; null if there should not be one. `random` is from 0 to 1. */
export function retryDelayMs(
  { retryable, retryAfterMs }: StoreError,
  attempt: number,
  remainingMs: number,
  random = Math.random(),
): number | null {
  const backoffMs = BACKOFF_MS[attempt]
  if (!retryable || backoffMs === undefined) return null
  // Half of the delay is random, so that clients that failed together do not retry together.
  const delayMs = Math.max(retryAfterMs, backoffMs * (0.5 + random / 2))
  return delayMs < remainingMs ? delayMs : null
}

/** For an error of a socket or of `fetch`. Only its code is used, because its message may contain addresses. */
function unreachable(store: string, error: unknown): StoreError {
  const code = codeOf(error)
  return new StoreError(`${store} cannot be reached${code === null ? '' : ` (${code})`}`, { retryable: true })
}

function codeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z_]+$/.test(at.code)) return at.code
  }
  return null
}

/**
 * The whole body of a store's response. Rejects with a `StoreError` when it is larger than `maxBytes`, or incomplete.
 */
export async function readResponseBody(store: string, response: Response, maxBytes: number): Promise<string> {
  const body = await readText(response, maxBytes)
  if (body === null) throw new StoreError(`${store} returned more than ${maxBytes} bytes`)
  if (body.isTruncated) throw new StoreError(`${store} returned an incomplete response`, { retryable: true })
  return body.text
}
