/**
 * Polls the stream of one run, for all its readers. A poll is an update whose id follows from its offset, so feeds of
 * other replicas share it, and its result stays readable: docs/decisions/046-streams-are-polled-once.md.
 */

import { sleep } from '../../../shared/lib/abort.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../../shared/temporal/enums.ts'
import type { Closing } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { backgroundCall, type Call, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { hasErrorName, isOutage } from '../../model/errors.ts'
import { queryItems } from '../calls/stream/handlers.ts'
import { carriedUpTo, inspect } from '../calls/stream/inspect.ts'
import { type Chunk, type PollAnswer, readPoll, sendPoll, storedPoll, toChunk } from '../calls/stream/poll.ts'
import { readTail } from '../calls/stream/tail.ts'
import type { EngineContext } from '../context.ts'
import { type PollHolder, pollUntil, untilAnswered } from '../polls.ts'
import { type FeedAnswer, type FeedState, type FeedStep, type FeedView, firstState, next } from './feed-state.ts'
import type { VerifyStream } from './verification.ts'

export interface FeedPorts {
  context: EngineContext
  run: RunRef
  /** Whose share of the long polls it uses. */
  holder: PollHolder
  /** How many updates the readers of one run may send to it. */
  maxUpdates: number
  verify: VerifyStream
  /** Ends the feed. */
  signal: AbortSignal
  waitForEnd(run: RunRef, call: Call): Promise<Closing | null>
  /** Receives the items. */
  add(chunk: Chunk): void
  /** Called with each change of what readers see. */
  onView(view: FeedView): void
}

// An answer that arrives so soon was stored already: another replica is ahead.
const STORED_WITHIN_MS = 4

/** Resolves when the run has ended. Rejects when nothing more can be read, or the signal aborts. */
export async function follow(ports: FeedPorts): Promise<void> {
  const { run, maxUpdates, signal, add, onView } = ports
  const steps = stepsOf(ports)
  let state = firstState(run, maxUpdates)
  while (state.step !== null) {
    if (state.pauseMs > 0) await sleep(state.pauseMs, signal)
    const answer = await steps[state.step](state)
    // A feed has no deadline, so only its signal ends a call without an answer.
    signal.throwIfAborted()
    if (answer === null) throw new Error('a feed has no deadline, but its call ended')
    if (answer.kind === 'chunk') add(answer.chunk)
    if (answer.kind === 'tail') answer.chunks.forEach(add)
    const { view } = state
    state = next(state, answer)
    if (state.view !== view) onView(state.view)
  }
}

type Steps = Record<FeedStep, (state: FeedState) => Promise<FeedAnswer | null>>

function stepsOf({ context, run, holder, signal, verify, waitForEnd }: FeedPorts): Steps {
  const background: Call = { ...backgroundCall('streams', 0), deadlineAt: Number.POSITIVE_INFINITY, signal }

  /** Calls `act` until the engine answers, through outages. */
  function persist<T>(act: (call: Call) => Promise<T>, timeoutMs: number = TIMEOUT_MS.describe): Promise<T | null> {
    return untilAnswered(background, (call) => act(withTimeout(call, timeoutMs)))
  }

  const readWith = (read: typeof readPoll) => (state: FeedState) =>
    persist((call) => read(context, run, state.view.next, call))

  return {
    read: readWith(readPoll),
    rest: readWith(storedPoll(context)),
    describe: () => persist(async (call) => ({ kind: 'described', run: await inspect(context, run, call) })),

    async verify() {
      try {
        return { kind: 'verified', handlers: await verify(run, background) }
      } catch (error) {
        if (hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError', 'QueryFailedError'))
          return { kind: 'unverified', obstacle: error }
        if (isOutage(error)) return { kind: 'unverified', obstacle: null }
        throw error
      }
    },

    async poll({ view }) {
      const sentAt = Date.now()
      const send = (call: Call, stage?: number) => sendPoll(context, run, view.next, call, stage)
      const answer = await pollUntil<PollAnswer>({ polls: context.polls, holder }, background, {
        poll: async (call) => ({ found: await send(call) }),
        // Waits only until the workflow has accepted the poll. A later read returns its result.
        read: async (call) => ({ found: unlessPending(await send(call, ACCEPTED)) }),
      })
      return answer && { ...answer, wasStored: Date.now() - sentAt < STORED_WITHIN_MS }
    },

    query: ({ view }) =>
      persist(async (call) => {
        const items = await queryItems(context, run, view.next, call)
        if (items.next_offset <= view.next) return { kind: 'unknown' }
        return { kind: 'chunk', chunk: toChunk(view.next, items, false), isFull: false }
      }, TIMEOUT_MS.streamQuery),

    async wait() {
      const closing = await waitForEnd(run, background)
      return closing && { kind: 'ended', nextRunId: closing.nextRunId }
    },

    carry: ({ nextRunId }) =>
      persist(async (call) => {
        const next = { workflowId: run.workflowId, runId: nextRunId ?? run.runId }
        return { kind: 'carried', upTo: await carriedUpTo(context, next, call) }
      }, TIMEOUT_MS.streamTail),

    tail: ({ view }) =>
      persist(
        async (call) => ({ kind: 'tail', ...(await readTail(context, run, view.next, call)) }),
        TIMEOUT_MS.streamTail,
      ),
  }
}

const { ACCEPTED } = UpdateWorkflowExecutionLifecycleStage

/** Null for an answer that the next read may change. */
function unlessPending(answer: PollAnswer): PollAnswer | null {
  return answer.kind === 'pending' ? null : answer
}
