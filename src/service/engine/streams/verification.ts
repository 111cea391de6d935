import { boundedMap } from '../../../shared/lib/cache.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { type Call, shareCalls } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { toKey } from '../../model/execution.ts'
import { type StreamHandlers, verifyStream } from '../calls/stream/handlers.ts'
import type { EngineContext } from '../context.ts'

/** Rejects with `StreamNotFoundError` for a workflow without a stream, and like a query. */
export type VerifyStream = (run: RunRef, call: Call) => Promise<StreamHandlers>

// The results do not expire, because a run that has a stream keeps it.
const MAX_KNOWN = 10_000

/** All readers and publishers of a run share one query. */
export function createVerification(context: EngineContext): VerifyStream {
  const known = boundedMap<string, StreamHandlers>(MAX_KNOWN)
  const verify = shareCalls(TIMEOUT_MS.streamQuery, async (key: string, call: Call) => {
    const handlers = await verifyStream(context, JSON.parse(key) as RunRef, call)
    known.set(key, handlers)
    return handlers
  })

  return async ({ workflowId, runId }, call) => {
    const key = toKey({ workflowId, runId })
    return known.get(key) ?? (await verify(key, call))
  }
}
