import { type StoreCall, StoreError } from './store-call.ts'

/** Runs an operation on a store, or rejects at once while the store is down. */
export type Circuit = <T>(call: StoreCall, act: (call: StoreCall) => Promise<T>) => Promise<T>

/** How long a store that is down is not called. */
const PAUSE_MS = 10_000

// An operation that had less time does not prove that the store is down.
const MIN_TIME_MS = 1000

interface Down {
  error: StoreError
  /** Epoch milliseconds. */
  until: number
}

/**
 * A store is down when an operation and its retries fail without a response, and no other operation gets one meanwhile.
 * Then all operations reject with the same error for 10 s, without calling the store. After that, one operation at a
 * time calls the store, until it responds.
 */
export function createCircuit(now: () => number = Date.now): Circuit {
  let down: Down | null = null
  let responses = 0
  return async (call, act) => {
    const before = down
    if (before !== null && now() < before.until) throw before.error
    // While this operation calls the store, others still reject.
    if (before !== null) down = { ...before, until: now() + PAUSE_MS }
    const hasTime = call.deadlineAt - now() >= MIN_TIME_MS
    const responsesBefore = responses
    const onResponse = () => {
      responses++
      down = null
    }
    try {
      const result = await act({ ...call, onResponse })
      onResponse()
      return result
    } catch (error) {
      if (responses === responsesBefore) down = stateAfter(error, hasTime, before ?? down)
      throw error
    }
  }

  function stateAfter(error: unknown, hasTime: boolean, unchanged: Down | null): Down | null {
    if (!(error instanceof StoreError)) return unchanged
    // The store has rejected the request.
    if (!error.retryable) return null
    return hasTime ? { error: whileDown(error), until: now() + PAUSE_MS } : unchanged
  }
}

function whileDown({ message }: StoreError): StoreError {
  return new StoreError(`${message}; it is not tried again for ${PAUSE_MS / 1000} s`, { retryable: true })
}
