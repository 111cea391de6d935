import { retryWithBackoff } from '../../lib/backoff.ts'
import type { Closing, Execution } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { Engine } from '../model/engine.ts'
import { hasErrorName } from '../model/errors.ts'

// Pause before another read when the engine is at its limit.
const BACKOFF_MS = 500

/** A client that has waited for the end does not get a 429: the read is repeated while the engine is at its limit. */
export function readWithBackoff(engine: Engine, run: RunRef, call: Call, closing?: Closing): Promise<Execution> {
  const { signal, deadlineAt } = call
  function delayMs(error: unknown): number {
    const isBusy = hasErrorName(error, 'ResourceExhaustedError')
    if (!isBusy || signal.aborted || Date.now() + BACKOFF_MS > deadlineAt) throw error
    return BACKOFF_MS
  }
  return retryWithBackoff(() => engine.read(run, call, closing), { delayMs, signal })
}
