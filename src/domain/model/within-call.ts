import { deadlineSignal, unlessAborted } from '../../lib/abort.ts'
import type { Call } from './call.ts'
import { ServiceError } from './errors.ts'

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
