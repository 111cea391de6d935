/** Until when, and for whom, a store is asked. */
export interface StoreCall {
  /** Aborts when nobody waits any more. */
  signal: AbortSignal
  /** Epoch milliseconds. */
  deadlineAt: number
}

/** What a store did not do. The message is fit for anybody's eyes: no address, no secret, nothing of what was sent. */
export class StoreError extends Error {
  /** Whether the same again may go well. */
  readonly passing: boolean
  /** How long the store wants to be left alone. */
  readonly retryAfterMs: number

  constructor(
    message: string,
    { passing = false, retryAfterMs = 0 }: { passing?: boolean; retryAfterMs?: number } = {},
  ) {
    super(message)
    this.name = 'StoreError'
    this.passing = passing
    this.retryAfterMs = retryAfterMs
  }
}

const PAUSES_MS = [50, 150, 400, 1000]

/**
 * Tries a few times while it fails in passing and the deadline allows. Rejects with a `StoreError`, or with the reason of
 * `call.signal` when that aborts. `act` has to end when its signal aborts.
 */
export async function withRetries<T>(
  store: string,
  call: StoreCall,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(call.deadlineAt - Date.now())))
  const signal = AbortSignal.any([call.signal, deadline])
  const late = () => new StoreError(`${store} did not answer in time`, { passing: true })
  for (let attempt = 0; ; attempt++) {
    call.signal.throwIfAborted()
    if (deadline.aborted) throw late()
    try {
      return await act(signal)
    } catch (error) {
      call.signal.throwIfAborted()
      if (deadline.aborted) throw late()
      const fault = error instanceof StoreError ? error : unreachable(store, error)
      const pauseMs = PAUSES_MS[attempt]
      if (!fault.passing || pauseMs === undefined) throw fault
      // Half of it by chance, so that those who failed together do not come back together.
      const restMs = Math.max(fault.retryAfterMs, pauseMs * (0.5 + Math.random() / 2))
      if (Date.now() + restMs >= call.deadlineAt) throw fault
      await rest(restMs, signal)
    }
  }
}

/** Whatever a socket or `fetch` throws: its text may hold addresses, its code does not. */
function unreachable(store: string, error: unknown): StoreError {
  const code = codeOf(error)
  return new StoreError(`${store} can't be reached${code === null ? '' : ` (${code})`}`, { passing: true })
}

function codeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z_]+$/.test(at.code)) return at.code
  }
  return null
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
