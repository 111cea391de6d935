/** What a workflow with a stream answers to queries. */

import { retryWithBackoff } from '../../../../shared/lib/abort.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { isOffset, type PollResult, STREAM_OFFSET, STREAM_POLL } from '../../../../shared/wire/stream.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { hasErrorName } from '../../../model/errors.ts'
import { type EngineContext, executionIds } from '../../context.ts'
import { isQueryFailure, toServiceError } from '../../errors.ts'
import { METADATA_QUERY, readHandlers } from '../diagnosis/missing-handler.ts'
import { withProblem } from '../diagnosis/with-problem.ts'
import { queryFailed, queryOnce } from '../query.ts'
import { streamNotFound } from './errors.ts'
import { toPollResult } from './poll.ts'

export interface StreamHandlers {
  /** Whether the stream can also be read by a query: of the SDKs, only Python's has it so far. */
  hasPollQuery: boolean
}

/**
 * Rejects with `StreamNotFoundError` for a workflow without a stream, and like a query.
 *
 * Call this before an update or a signal for a stream is sent: where the SDK of the workflow passes unknown names to a
 * default handler, that handler throws or runs the user's code.
 */
export function verifyStream(context: EngineContext, run: RunRef, call: Call): Promise<StreamHandlers> {
  return withProblem(context, run, call, async () => {
    const handlers = await resent(call, (attempt) => listHandlers(context, run, attempt))
    if (handlers.update === null) {
      await streamHead(context, run, call)
      return { hasPollQuery: false }
    }
    if (!handlers.update.includes(STREAM_POLL)) throw streamNotFound(run)
    return { hasPollQuery: handlers.query?.includes(STREAM_POLL) === true }
  })
}

async function listHandlers(
  context: EngineContext,
  run: RunRef,
  call: Call,
): Promise<Awaited<ReturnType<typeof readHandlers>>> {
  try {
    return await readHandlers(context, run, call)
  } catch (error) {
    if (isQueryFailure(error)) {
      if (error.message.includes(METADATA_QUERY)) return { query: null, update: null }
      throw await queryFailed(context, run, { name: METADATA_QUERY }, error)
    }
    throw toServiceError(error, { kind: 'read', workerRequest: 'a query', details: executionIds(run) })
  }
}

/** The offset after the last item. Rejects with `StreamNotFoundError`, and like a query. */
export async function streamHead(context: EngineContext, run: RunRef, call: Call): Promise<number> {
  try {
    const head = await resent(call, (attempt) => queryOnce(context, run, { name: STREAM_OFFSET, args: [] }, attempt))
    if (isOffset(head)) return head
  } catch (error) {
    if (!isUnknownQuery(error)) throw error
  }
  throw streamNotFound(run)
}

/** Whether the workflow does not have the query. Otherwise it failed because the worker cannot replay the run. */
function isUnknownQuery(error: unknown): boolean {
  if (hasErrorName(error, 'HandlerNotFoundError')) return true
  return hasErrorName(error, 'QueryFailedError') && error.details.errorDetails?.message.includes(STREAM_OFFSET) === true
}

/** The items that the workflow keeps from an offset on. Only for a workflow with the query `STREAM_POLL`. */
export async function queryItems(context: EngineContext, run: RunRef, from: number, call: Call): Promise<PollResult> {
  const args = [{ topics: [], from_offset: from }]
  return toPollResult(
    run,
    await resent(call, (attempt) => queryOnce(context, run, { name: STREAM_POLL, args }, attempt)),
  )
}

const PAUSE_MS = 200

/**
 * Sends the query again while the engine rejects it, because it holds one query of a run that waits for a worker, and
 * if no worker responds soon: it can get lost while updates and signals reach the run.
 */
function resent<T>(call: Call, send: (call: Call) => Promise<T>): Promise<T> {
  let attempt = atMost(call, TIMEOUT_MS.streamQueryAgain)
  function delayMs(error: unknown): number {
    const isLost = hasErrorName(error, 'DeadlineExceededError') && attempt !== call
    const mayResend = isLost || hasErrorName(error, 'ResourceExhaustedError')
    if (!mayResend || call.deadlineAt - Date.now() <= PAUSE_MS || call.signal.aborted) throw error
    if (isLost) attempt = call
    return PAUSE_MS
  }
  return retryWithBackoff(() => send(attempt), { delayMs, signal: call.signal })
}
