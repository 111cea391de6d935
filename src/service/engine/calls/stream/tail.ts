/** Items that a feed does not have: those that no poll has returned, and those that it has dropped. */

import { createStreamLog } from '../../../../shared/temporal/history/stream-log.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { hasErrorName } from '../../../model/errors.ts'
import { type EngineContext, executionIds } from '../../context.ts'
import { toServiceError } from '../../errors.ts'
import { readPage } from '../history-pages.ts'
import { queryItems, streamHead, verifyStream } from './handlers.ts'
import { type Chunk, storedPoll, toChunk } from './poll.ts'

export interface Tail {
  chunks: Chunk[]
  /** False if no worker could say how many items there are. */
  complete: boolean
}

/**
 * Reads from `next` on: with a query for the items or, if the workflow has only the query for the last offset, from the
 * history. If the items are not in the history, the chunk for them is empty.
 */
export async function readTail(context: EngineContext, run: RunRef, next: number, call: Call): Promise<Tail> {
  const chunks: Chunk[] = []
  let from = next
  const brief = () => atMost(call, TIMEOUT_MS.streamTailQuery)
  try {
    const { hasPollQuery } = await verifyStream(context, run, brief())
    for (let isFull = hasPollQuery; isFull; ) {
      const result = await queryItems(context, run, from, brief())
      isFull = result.more_ready === true && result.next_offset > from
      if (result.next_offset > from) chunks.push(toChunk(from, result, false))
      from = Math.max(from, result.next_offset)
    }
    const head = hasPollQuery ? from : await streamHead(context, run, brief())
    if (head > from) chunks.push(await fromHistory(context, run, { from, next: head }, call))
    return { chunks, complete: true }
  } catch (error) {
    // A query also fails if the worker cannot replay the run any more.
    if (!hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError', 'QueryFailedError')) throw error
    return { chunks, complete: false }
  }
}

async function fromHistory(
  context: EngineContext,
  run: RunRef,
  { from, next }: Pick<Chunk, 'from' | 'next'>,
  call: Call,
): Promise<Chunk> {
  const log = createStreamLog(from)
  let nextPageToken: Uint8Array | null = null
  try {
    do {
      const page = await readPage(
        context,
        run,
        atMost(call, TIMEOUT_MS.describe),
        nextPageToken === null ? {} : { nextPageToken },
      )
      await log.add(page.events, (payloads) => context.payloads.decode(payloads))
      nextPageToken = page.nextPageToken
    } while (nextPageToken !== null)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
  const found = log.itemsUpTo(next) ?? []
  // The workflow may have dropped the first items after `from`.
  const first = next - found.length
  const items = found.map((item, at) => ({ ...item, offset: first + at }))
  return toChunk(from, { items, next_offset: next, more_ready: false }, false)
}

/** The chunk with this offset, which the engine or the workflow still has. */
export async function readAgain(
  context: EngineContext,
  run: RunRef,
  { from, isStored }: Pick<Chunk, 'from' | 'isStored'>,
  call: Call,
): Promise<Chunk> {
  if (!isStored) return toChunk(from, await queryItems(context, run, from, call), false)
  const answer = await storedPoll(context)(context, run, from, call)
  if (answer.kind === 'chunk') return answer.chunk
  throw new Error(`the engine has lost the poll of offset ${from}`)
}
