import type { Call } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { hasErrorName } from '../../domain/model/errors.ts'
import { toKey } from '../../domain/model/execution.ts'
import { shareCalls } from '../../domain/model/share-calls.ts'
import { sleep } from '../../lib/abort.ts'
import { boundedMap } from '../../lib/cache.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { type StreamHandlers, verifyStream } from '../calls/stream/handlers.ts'
import type { EngineContext } from '../context.ts'

/** Rejects with `StreamNotFoundError` for a workflow without a stream, and like a query. */
export type VerifyStream = (run: RunRef, call: Call) => Promise<StreamHandlers>

// The results do not expire, because a run that has a stream keeps it.
const MAX_KNOWN = 10_000

// The engine holds one query of a run that waits for a worker, and rejects others.
const RETRY_MS = 200

/** All readers and publishers of a run share one query. */
export function createVerification(context: EngineContext, sharesPending: boolean): VerifyStream {
  const known = boundedMap<string, StreamHandlers>(MAX_KNOWN)
  const verify = shareCalls({ sharesPending, timeoutMs: TIMEOUT_MS.streamQuery }, async (key: string, call: Call) => {
    const handlers = await verifyOnce(JSON.parse(key) as RunRef, call)
    known.set(key, handlers)
    return handlers
  })

  async function verifyOnce(run: RunRef, call: Call): Promise<StreamHandlers> {
    while (true) {
      try {
        return await verifyStream(context, run, call)
      } catch (error) {
        const mayRetry = hasErrorName(error, 'ResourceExhaustedError') && Date.now() + RETRY_MS < call.deadlineAt
        if (!mayRetry || call.signal.aborted) throw error
        await sleep(RETRY_MS, call.signal)
      }
    }
  }

  return async ({ workflowId, runId }, call) => {
    const key = toKey({ workflowId, runId })
    return known.get(key) ?? (await verify(key, call))
  }
}
