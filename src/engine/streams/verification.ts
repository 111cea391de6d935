import { type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { hasErrorName } from '../../domain/model/errors.ts'
import { toKey } from '../../domain/model/execution.ts'
import { withinCall } from '../../domain/model/within-call.ts'
import { sleep } from '../../lib/abort.ts'
import { boundedMap } from '../../lib/bounded-map.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { type StreamHandlers, verifyStream } from '../calls/stream/handlers.ts'
import type { EngineContext } from '../context.ts'

/** Rejects with `StreamNotFoundError` for a workflow without a stream, and like a query. */
export type VerifyStream = (run: RunRef, call: Call) => Promise<StreamHandlers>

// A run that has a stream keeps it.
const MAX_KNOWN = 10_000

// The engine holds one query of a run that waits for a worker, and rejects others.
const RETRY_MS = 200

/** All readers and publishers of a run share one query. `sharesPending` is false where they cannot (workerd). */
export function createVerification(context: EngineContext, sharesPending: boolean): VerifyStream {
  const known = boundedMap<string, StreamHandlers>(MAX_KNOWN)
  const pending = new Map<string, Promise<StreamHandlers>>()

  async function verify(run: RunRef, call: Call): Promise<StreamHandlers> {
    while (true) {
      try {
        const handlers = await verifyStream(context, run, call)
        known.set(toKey(run), handlers)
        return handlers
      } catch (error) {
        const mayRetry = hasErrorName(error, 'ResourceExhaustedError') && Date.now() + RETRY_MS < call.deadlineAt
        if (!mayRetry || call.signal.aborted) throw error
        await sleep(RETRY_MS, call.signal)
      }
    }
  }

  function shared(run: RunRef, call: Call): Promise<StreamHandlers> {
    const key = toKey(run)
    const verifying = pending.get(key) ?? verify(run, call).finally(() => pending.delete(key))
    pending.set(key, verifying)
    return verifying
  }

  return async ({ workflowId, runId }, call) => {
    const run = { workflowId, runId }
    const found = known.get(toKey(run))
    if (found !== undefined) return found
    const bounded = withTimeout(call, TIMEOUT_MS.streamQuery)
    if (!sharesPending) return verify(run, bounded)
    // No caller that leaves ends what the others wait for.
    const { signal } = new AbortController()
    return await withinCall(shared(run, { ...bounded, signal }), bounded)
  }
}
