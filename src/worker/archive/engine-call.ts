import type { NativeConnection } from '@temporalio/worker'
import { unlessAborted } from '../../lib/abort.ts'

export type EngineCall = <T>(signal: AbortSignal, send: () => Promise<T>) => Promise<T>

const DEADLINE_MS = 10_000

/** Calls of the engine that reject when `signal` aborts, or when the engine does not respond in time. */
export function createEngineCall(connection: Pick<NativeConnection, 'withDeadline'>): EngineCall {
  // The SDK's connection does not abort calls. When the process shuts down, only the wait for them ends.
  return async (signal, send) => {
    signal.throwIfAborted()
    return unlessAborted(connection.withDeadline(Date.now() + DEADLINE_MS, send), signal)
  }
}
