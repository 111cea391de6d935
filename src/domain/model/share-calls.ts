import { deadlineSignal, unlessAborted } from '../../lib/abort.ts'
import { atMost, type Call } from './call.ts'
import { ServiceError } from './errors.ts'

// Callers wait so much longer than the shared call, whose own error says why there is no response.
const ANSWER_MS = 1000

/**
 * Callers that need the same at the same time share one call of `act`. A caller that leaves does not end it for the
 * others. With `sharesPending` false each has its own: on workerd a request cannot await the call of another one.
 */
export function shareCalls<Key, T>(
  { sharesPending, timeoutMs }: { sharesPending: boolean; timeoutMs: number },
  act: (key: Key, call: Call) => Promise<T>,
): (key: Key, call: Call) => Promise<T> {
  const pending = new Map<Key, Promise<T>>()

  function begin(key: Key, call: Call): Promise<T> {
    const { signal } = new AbortController()
    const acting = act(key, { ...call, signal }).finally(() => pending.delete(key))
    pending.set(key, acting)
    return acting
  }

  return (key, call) => {
    const bounded = atMost(call, timeoutMs)
    if (!sharesPending) return act(key, bounded)
    const waiting = atMost(call, timeoutMs + ANSWER_MS)
    return withinCall(pending.get(key) ?? begin(key, bounded), waiting)
  }
}

/** Awaits a promise that requests may share, until this call's deadline or abort. The promise itself continues. */
export async function withinCall<T>(shared: T | Promise<T>, { deadlineAt, signal }: Call): Promise<T> {
  if (!(shared instanceof Promise)) return shared
  // A call that arrived during shutdown is aborted from the start, but may still be answered from the cache.
  const linked = signal.aborted ? deadlineSignal(deadlineAt) : deadlineSignal(deadlineAt, signal)
  try {
    return await unlessAborted(shared, linked.signal)
  } catch (error) {
    const isAbort = linked.signal.aborted && error === linked.signal.reason
    throw isAbort ? noResponse() : error
  } finally {
    linked.release()
  }
}

function noResponse(): ServiceError {
  return new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.', {
    details: { retryAfterSeconds: 1 },
  })
}
