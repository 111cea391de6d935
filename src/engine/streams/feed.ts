/**
 * Polls the stream of one run, for all its readers. A poll is an update whose id follows from its offset, so feeds of
 * other replicas share it, and its result stays readable: docs/decisions/046-streams-are-polled-once.md.
 */
import { backgroundCall, type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { hasErrorName, isOutage, type ServiceError, streamUnanswered } from '../../domain/model/errors.ts'
import type { RunEnd } from '../../domain/model/stream.ts'
import { sleep } from '../../lib/abort.ts'
import { type Closing, isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { UpdateWorkflowExecutionLifecycleStage } from '../../temporal/enums.ts'
import { pollUntil, untilAnswered } from '../calls/poll-until.ts'
import { exhausted, poisoned } from '../calls/stream/errors.ts'
import { queryItems, type StreamHandlers } from '../calls/stream/handlers.ts'
import { inspect, isCarriedOn, type RunState } from '../calls/stream/inspect.ts'
import { type Chunk, type PollAnswer, readPoll, sendPoll, storedPoll, toChunk } from '../calls/stream/poll.ts'
import { readTail } from '../calls/stream/tail.ts'
import type { EngineContext } from '../context.ts'
import { pauseAfterPollMs } from './budget.ts'
import type { VerifyStream } from './verification.ts'

export interface FeedPorts {
  context: EngineContext
  run: RunRef
  /** How many updates the readers of one run may send to it. */
  maxUpdates: number
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
  /** Items were added, or the obstacle may have changed. Null when the workflow can answer (again). */
  | { obstacle: ServiceError | null }
  /** Everything that was stored is read, and the workflow is known to have a stream. */
  | { isLive: true; hasPollQuery: boolean }
  | { end: RunEnd }

// The run is described again after so many polls, because its history grows, also without us.
const INSPECT_EVERY = 50

// An answer that arrives so soon was stored already: another replica is ahead.
const STORED_WITHIN_MS = 4

const QUERY_EVERY_MS = 1000

// Between two attempts while the workflow cannot answer.
const PAUSE_MS = 1000

const EXHAUSTED = { kind: 'exhausted' } as const

/** `wasStored`: it was there before we asked. */
type TimedChunk = Extract<PollAnswer, { kind: 'chunk' }> & { wasStored: boolean }

/** Resolves when the run has ended. Rejects when nothing more can be read, or the signal aborts. */
export async function follow(ports: FeedPorts): Promise<void> {
  const { context, run, buffer, onChange, signal } = ports
  const background: Call = { ...backgroundCall('streams', 0), deadlineAt: Number.POSITIVE_INFINITY, signal }
  let handlers: StreamHandlers | null = null

  const stored = await readStored(readPoll)
  await close(stored.kind === 'closing' ? null : await poll(stored))

  /** Reads what the engine has stored, without asking the workflow. Returns the first answer that has no items. */
  async function readStored(read: typeof readPoll): Promise<PollAnswer> {
    while (true) {
      const answer = await persist((call) => read(context, run, buffer.next(), call))
      if (answer.kind !== 'chunk') return answer
      add(answer.chunk)
    }
  }

  /** Polls until the run is ending. Returns its state if it was described as closed, else null. */
  async function poll(stored: PollAnswer): Promise<RunState | null> {
    const state = await inspectAfter(stored)
    if (!isOpen(state.status)) return state
    // A poll is only sent to a run whose stream was verified.
    if (!(await verify(stored.kind === 'pending' || buffer.polls() > 0))) return null
    onChange({ isLive: true, hasPollQuery: handlers?.hasPollQuery === true })
    return pollVerified(state)
  }

  async function pollVerified(described: RunState): Promise<RunState | null> {
    let state = described
    while (isOpen(state.status)) {
      const answer = await nextAnswer(state)
      if (answer.kind === 'closing') return null
      if (answer.kind === 'exhausted') return queryUntilClosed()
      state = answer.kind === 'chunk' ? await take(answer, state) : await inspectAfter(answer)
    }
    return state
  }

  function nextAnswer(state: RunState): Promise<Exclude<PollAnswer, { kind: 'chunk' }> | TimedChunk> {
    return pauseMs(state) === null ? Promise.resolve(EXHAUSTED) : pollOnce()
  }

  /** Adds the chunk, and pauses before the next poll, unless more items are available already. */
  async function take({ chunk, isFull, wasStored }: TimedChunk, state: RunState): Promise<RunState> {
    add(chunk)
    if (!isFull && !wasStored) await sleep(pauseMs(state) ?? 0, signal)
    return buffer.polls() % INSPECT_EVERY === 0 ? inspectRun(null) : state
  }

  function pauseMs(state: RunState): number | null {
    return pauseAfterPollMs({ ...state, polls: buffer.polls() }, ports.maxUpdates)
  }

  async function inspectAfter(answer: PollAnswer): Promise<RunState> {
    if (answer.kind === 'unready') await sleep(PAUSE_MS, signal)
    const isUnseen = answer.kind === 'pending' && !answer.isAccepted
    return inspectRun(isUnseen ? streamUnanswered(run) : null)
  }

  async function pollOnce(): Promise<Exclude<PollAnswer, { kind: 'chunk' }> | TimedChunk> {
    const from = buffer.next()
    const sentAt = Date.now()
    const answer = unlessOver(
      await pollUntil<PollAnswer>(context, background, {
        poll: async (call) => ({ found: await sendPoll(context, run, from, call) }),
        // Waits only until the workflow has accepted the poll. A later read returns its result.
        read: async (call) => ({ found: toFinal(await sendPoll(context, run, from, call, ACCEPTED)) }),
      }),
    )
    return answer.kind === 'chunk' ? { ...answer, wasStored: Date.now() - sentAt < STORED_WITHIN_MS } : answer
  }

  /** Reads without updates. Rejects if the SDK of the workflow has no query for that. */
  async function queryUntilClosed(): Promise<RunState | null> {
    if (!(await verify())) return null
    if (handlers?.hasPollQuery !== true) throw exhausted(run)
    onChange({ isLive: true, hasPollQuery: true })
    while (true) {
      const state = await inspectRun(null)
      if (!isOpen(state.status)) return state
      const from = buffer.next()
      const result = await persist((call) => queryItems(context, run, from, call), TIMEOUT_MS.streamQuery)
      if (result.next_offset > from) add(toChunk(from, result, false))
      await sleep(QUERY_EVERY_MS, signal)
    }
  }

  /** Waits until the workflow is known to have a stream. False if the run is closed first. */
  async function verify(isVerified = false): Promise<boolean> {
    while (!isVerified && handlers === null) {
      const obstacle = await verifyOnce()
      if (handlers === null && !isOpen((await inspectRun(obstacle)).status)) return false
      if (handlers === null) await sleep(PAUSE_MS, signal)
    }
    onChange({ obstacle: null })
    return true
  }

  /** Tries to verify the stream. Returns what prevents that, if it is known. Rejects if the workflow has no stream. */
  async function verifyOnce(): Promise<ServiceError | null> {
    try {
      handlers = await ports.verify(run, background)
      return null
    } catch (error) {
      signal.throwIfAborted()
      if (hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError', 'QueryFailedError')) return error
      if (isOutage(error)) return null
      throw error
    }
  }

  /** Describes the run. `obstacle` is reported if the description has none. Rejects if the run must not be polled. */
  async function inspectRun(obstacle: ServiceError | null): Promise<RunState> {
    const state = await persist((call) => inspect(context, run, call))
    // A poll may be the cause: the engine forgets a poll that makes the workflow task fail, so this cannot be checked.
    if (state.failsAsTooLarge) throw poisoned(run, state.obstacle?.details.problem)
    onChange({ obstacle: state.obstacle ?? obstacle })
    return state
  }

  /** `closed` is the run as it was described after its end; null if it may be open. */
  async function close(closed: RunState | null): Promise<void> {
    // A canceled run may stay open for a while. Its readers have all items so far.
    if (closed === null && isOpen((await inspectRun(null)).status))
      onChange({ isLive: true, hasPollQuery: handlers?.hasPollQuery === true })
    const { nextRunId } = unlessOver(await ports.waitForEnd(run, background))
    onChange({ obstacle: null })
    // Other replicas may have polled further. A poll adds nothing to a closed run.
    await readStored(storedPoll(context))
    const { chunks, complete } = await persist(
      (call) => readTail(context, run, buffer.next(), call),
      TIMEOUT_MS.streamTail,
    )
    const { status, completedAt } = closed ?? (await inspectRun(null))
    for (const chunk of chunks) add(chunk)
    onChange({ end: { status, completedAt, next: nextRunId === null ? null : await continueAs(nextRunId), complete } })
  }

  async function continueAs(runId: string): Promise<RunEnd['next']> {
    const next = { workflowId: run.workflowId, runId }
    const end = buffer.next()
    const isCarried = await persist((call) => isCarriedOn(context, next, end, call), TIMEOUT_MS.streamTail)
    return { runId, from: isCarried ? end : 0, isReset: !isCarried }
  }

  function add(chunk: Chunk): void {
    buffer.add(chunk)
    onChange({ obstacle: null })
  }

  /** Calls `act` until the engine answers, through outages. */
  async function persist<T>(act: (call: Call) => Promise<T>, timeoutMs: number = TIMEOUT_MS.describe): Promise<T> {
    return unlessOver(await untilAnswered(background, (call) => act(withTimeout(call, timeoutMs))))
  }

  /** Rejects for null, which says that the feed is over. */
  function unlessOver<T>(value: T | null): T {
    signal.throwIfAborted()
    if (value === null) throw new Error('a feed has no deadline, but its call ended')
    return value
  }
}

const { ACCEPTED } = UpdateWorkflowExecutionLifecycleStage

/** Null for an answer that the next read may change. */
function toFinal(answer: PollAnswer): PollAnswer | null {
  return answer.kind === 'pending' ? null : answer
}
