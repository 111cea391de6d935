/**
 * Polls the stream of one run, for all its readers. A poll is an update whose id follows from its offset, so feeds of
 * other replicas share it, and its result stays readable: docs/decisions/045-streams-are-polled-once.md.
 */
import { backgroundCall, type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { hasErrorName, isOutage, type ServiceError } from '../../domain/model/errors.ts'
import type { RunEnd } from '../../domain/model/stream.ts'
import { sleep } from '../../lib/abort.ts'
import { type Closing, isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../temporal/enums.ts'
import { type PollFailure, pauseBetweenPollsMs } from '../calls/poll-failure.ts'
import { type AfterFailure, pollUntil } from '../calls/poll-until.ts'
import { isCarriedOn } from '../calls/stream/carried-on.ts'
import { queryItems, type StreamHandlers } from '../calls/stream/handlers.ts'
import { exhausted, inspect, noWorker, poisoned, type RunState } from '../calls/stream/inspect.ts'
import { type Chunk, type PollAnswer, readPoll, sendPoll, toChunk } from '../calls/stream/poll.ts'
import { readTail } from '../calls/stream/tail.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { pauseAfterPollMs } from './budget.ts'
import type { VerifyStream } from './verification.ts'

export interface FeedPorts {
  context: EngineContext
  run: RunRef
  /** How many polls the readers of one run may send. */
  maxPolls: number
  verify: VerifyStream
  /** Ends the feed. */
  signal: AbortSignal
  waitForEnd(run: RunRef, call: Call): Promise<Closing | null>
  /** Where the items go, and from where the feed continues. */
  buffer: { add(chunk: Chunk): void; next(): number; polls(): number }
  /** Called after each change of the feed. */
  onChange(change: FeedChange): void
}

export type FeedChange =
  | 'items'
  /** Everything that was stored is read, and the workflow is known to have a stream. */
  | { isLive: true; handlers: StreamHandlers | null }
  /** Null when the workflow can answer again. */
  | { trouble: ServiceError | null }
  | { end: RunEnd }

// A workflow that was polled in vain is looked at every so many polls: its history may have grown.
const INSPECT_EVERY = 50

// An answer that arrives so soon was stored already: another replica is ahead.
const STORED_WITHIN_MS = 4

const QUERY_EVERY_MS = 1000

/** Resolves when the run has ended or the signal aborts. Rejects when nothing more can be read. */
export async function follow(ports: FeedPorts): Promise<void> {
  const { context, run, buffer, onChange, signal } = ports
  const background: Call = { ...backgroundCall('streams', 0), deadlineAt: Number.POSITIVE_INFINITY, signal }
  let handlers: StreamHandlers | null = null

  const first = await readStored(readPoll)
  if (first === null) return
  if (first.kind !== 'closing' && (await poll(first)) === 'aborted') return
  await close()

  function add(chunk: Chunk): void {
    buffer.add(chunk)
    onChange('items')
  }

  /** Calls `act` until the engine answers, through outages. Null if the feed is over first. */
  function persist<T>(act: (call: Call) => Promise<T>, timeoutMs: number = TIMEOUT_MS.describe): Promise<T | null> {
    const once = async (call: Call) => ({ found: await act(withTimeout(call, timeoutMs)) })
    return pollUntil({ polls: null }, background, { poll: once, read: once, afterFailure: backOff })
  }

  /** Reads what the engine has stored, without asking the workflow. Returns the first answer that has no items. */
  async function readStored(read: typeof readPoll): Promise<PollAnswer | null> {
    while (true) {
      const answer = await persist((call) => read(context, run, buffer.next(), call))
      if (answer?.kind !== 'chunk') return answer
      add(answer.chunk)
    }
  }

  /** Polls until the run is ending. */
  async function poll(stored: PollAnswer): Promise<'aborted' | 'closing'> {
    // Whoever has sent this poll has verified the stream.
    let isVerified = stored.kind === 'pending' || buffer.polls() > 0
    let state: RunState | null = null
    let answer: PollAnswer | null = null
    for (let polls = 0; ; polls++) {
      if (state === null || polls % INSPECT_EVERY === 0 || answer?.kind !== 'chunk') {
        state = await persist((call) => inspect(context, run, call))
        if (state === null) return 'aborted'
        if (!isOpen(state.status)) return 'closing'
        if (state.isPoisoned) throw poisoned(run, state)
        const isUnseen = answer?.kind === 'pending' && !answer.isAccepted
        onChange({ trouble: state.trouble ?? (isUnseen ? noWorker(run) : null) })
      }
      if (!isVerified && !(await verify())) return 'aborted'
      isVerified = true
      if (polls === 0) onChange({ isLive: true, handlers })
      const pauseMs = pauseAfterPollMs({ ...state, polls: buffer.polls() }, ports.maxPolls)
      if (pauseMs === null || answer?.kind === 'exhausted') {
        if (!(await readByQuery())) return 'aborted'
        continue
      }
      if (answer?.kind === 'unready') await sleep(pauseBetweenPollsMs(polls), signal)
      const sentAt = Date.now()
      answer = await pollOnce()
      if (answer === null) return 'aborted'
      if (answer.kind === 'closing') return 'closing'
      if (answer.kind !== 'chunk') continue
      add(answer.chunk)
      if (!answer.isFull && Date.now() - sentAt >= STORED_WITHIN_MS) await sleep(pauseMs, signal)
    }
  }

  function pollOnce(): Promise<PollAnswer | null> {
    const from = buffer.next()
    return pollUntil<PollAnswer>(context, background, {
      poll: async (call) => ({ found: await sendPoll(context, run, from, call) }),
      // Leaves the poll with the workflow, and reads its answer when it is there.
      read: async (call) => ({ found: toFinal(await sendPoll(context, run, from, call, ACCEPTED)) }),
    })
  }

  /** False if the feed is over first. */
  async function verify(): Promise<boolean> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        handlers = await ports.verify(run, background)
        onChange({ trouble: null })
        return true
      } catch (error) {
        if (signal.aborted) return false
        if (hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError')) onChange({ trouble: error })
        else if (!isOutage(error)) throw error
        const state = await persist((call) => inspect(context, run, call))
        if (state !== null && !isOpen(state.status)) return true
        await sleep(pauseBetweenPollsMs(failures), signal)
      }
    }
    return false
  }

  /** Reads without updates. Rejects if the SDK of the workflow has no query for that. */
  async function readByQuery(): Promise<boolean> {
    if (handlers === null && !(await verify())) return false
    if (handlers?.hasPollQuery !== true) throw exhausted(run)
    await sleep(QUERY_EVERY_MS, signal)
    const from = buffer.next()
    const result = await persist((call) => queryItems(context, run, from, call), TIMEOUT_MS.streamQuery)
    if (result !== null && result.next_offset > from) add(toChunk(from, result, false))
    return result !== null
  }

  async function close(): Promise<void> {
    const closing = await ports.waitForEnd(run, background)
    if (closing === null) return
    onChange({ trouble: null })
    // Other replicas may have polled further. A poll adds nothing to a closed run.
    if ((await readStored(storedPoll(context))) === null) return
    const tail = await persist((call) => readTail(context, run, buffer.next(), call), TIMEOUT_MS.streamTail)
    const state = tail && (await persist((call) => inspect(context, run, call)))
    if (tail === null || state === null) return
    for (const chunk of tail.chunks) add(chunk)
    const next = closing.nextRunId === null ? null : await continuation(closing.nextRunId)
    const { status, completedAt } = state
    if (!signal.aborted) onChange({ end: { status, completedAt, next, complete: tail.complete } })
  }

  async function continuation(runId: string): Promise<RunEnd['next']> {
    const next = { workflowId: run.workflowId, runId }
    const end = buffer.next()
    const isCarried = await persist((call) => isCarriedOn(context, next, end, call), TIMEOUT_MS.streamTail)
    return { runId, from: isCarried ? end : 0, isReset: !isCarried }
  }
}

const { ACCEPTED } = UpdateWorkflowExecutionLifecycleStage

function backOff(failure: PollFailure): AfterFailure {
  return failure === 'final' ? 'throw' : 'back off'
}

/** Null for an answer that the next read may change. */
function toFinal(answer: PollAnswer): PollAnswer | null {
  return answer.kind === 'pending' ? null : answer
}

/** Reads what the engine has stored of a poll, where sending the poll again cannot add anything to the run. */
function storedPoll({ features }: EngineContext): typeof readPoll {
  return features.asyncUpdates.supported ? readPoll : sendPoll
}

/** The chunk with this offset, which the engine or the workflow still has. */
export async function readAgain(
  context: EngineContext,
  run: RunRef,
  from: number,
  { hasPollQuery }: StreamHandlers,
  call: Call,
): Promise<Chunk> {
  try {
    const answer = await storedPoll(context)(context, run, from, call)
    if (answer.kind === 'chunk') return answer.chunk
    if (hasPollQuery) return toChunk(from, await queryItems(context, run, from, call), false)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
  throw new Error(`the engine has lost the poll of offset ${from}`)
}
