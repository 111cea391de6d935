/** What the feed of a run does next, and what its readers see, after each answer. */

import { isOpen } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { ServiceError } from '../../model/errors.ts'
import { streamUnanswered } from '../../model/errors.ts'
import type { RunEnd } from '../../model/stream.ts'
import { exhausted, poisoned } from '../calls/stream/errors.ts'
import type { StreamHandlers } from '../calls/stream/handlers.ts'
import type { RunState } from '../calls/stream/inspect.ts'
import type { Chunk, PollAnswer } from '../calls/stream/poll.ts'
import type { Tail } from '../calls/stream/tail.ts'
import { pauseAfterPollMs } from './budget.ts'

export type FeedStep =
  /** Reads what the engine has stored of the next poll, without asking the workflow. */
  | 'read'
  | 'describe'
  /** Asks the workflow whether it has a stream. */
  | 'verify'
  | 'poll'
  /** Reads without an update. */
  | 'query'
  /** Waits for the end of the run. */
  | 'wait'
  /** Reads how far the next run carries the stream on. */
  | 'carry'
  /** Reads what other replicas have polled of the run, which is closed. */
  | 'rest'
  /** Reads what no poll has returned. */
  | 'tail'

export type FeedAnswer =
  | Exclude<PollAnswer, { kind: 'chunk' }>
  /** `wasStored`: it was there before we asked. */
  | { kind: 'chunk'; chunk: Chunk; isFull: boolean; wasStored?: boolean }
  | { kind: 'described'; run: RunState }
  | { kind: 'verified'; handlers: StreamHandlers }
  /** What prevents the verification, if it is known. */
  | { kind: 'unverified'; obstacle: ServiceError | null }
  | { kind: 'ended'; nextRunId: string | null }
  | { kind: 'carried'; upTo: number }
  | ({ kind: 'tail' } & Tail)

/** What readers see. Replaced with each change. */
export interface FeedView {
  /** The offset after the last item. */
  next: number
  /** Everything that was stored is read, and the workflow is known to have a stream. */
  isLive: boolean
  /** Whether the workflow can be queried for its items. */
  hasPollQuery: boolean
  /** Why the workflow cannot answer at the moment. */
  obstacle: ServiceError | null
  end: RunEnd | null
  /** The run has ended, and only a worker can say whether there are more items. */
  ending: RunEnd | null
  /** Why nothing more can be read. */
  failure: { error: unknown } | null
}

export interface FeedState {
  run: RunRef
  /** How many updates the readers of one run may send to it. */
  maxUpdates: number
  view: FeedView
  /** Null at the end. */
  step: FeedStep | null
  /** The pause before the step. */
  pauseMs: number
  /** What the run is described for. */
  aim: 'poll' | 'query' | 'end'
  /** How many polls have returned the items so far. */
  polls: number
  /** How often the stored poll was read while no worker had seen it. */
  unseen: number
  /** Whether a poll was sent before: that is only done to a run whose stream was verified. */
  wasPolled: boolean
  handlers: StreamHandlers | null
  verifyAfterMs: number
  /** What prevents an answer, unless the description of the run says more. */
  suspected: ServiceError | null
  described: RunState | null
  /** The next run of the chain; undefined until the run has ended. */
  nextRunId: string | null | undefined
  /** The offset up to which the next run has the items of this one. */
  carriedUpTo: number
}

// The run is described again after so many polls, because its history grows, also without us.
const DESCRIBE_EVERY = 50

const QUERY_EVERY_MS = 1000

// Between two attempts while the workflow cannot answer.
const PAUSE_MS = 1000

// A poll that another replica has just sent is seen by a worker within 2 s, if there is one.
const READ_AGAIN_MS = 100
const MAX_UNSEEN = 20

export function firstState(run: RunRef, maxUpdates: number): FeedState {
  return {
    run,
    maxUpdates,
    view: { next: 0, isLive: false, hasPollQuery: false, obstacle: null, ending: null, end: null, failure: null },
    step: 'read',
    pauseMs: 0,
    aim: 'poll',
    polls: 0,
    unseen: 0,
    wasPolled: false,
    handlers: null,
    verifyAfterMs: 0,
    suspected: null,
    described: null,
    nextRunId: undefined,
    carriedUpTo: -1,
  }
}

/** Throws when nothing more can be read. */
export function next(state: FeedState, answer: FeedAnswer): FeedState {
  switch (answer.kind) {
    case 'chunk':
      return afterChunk(added(state, answer.chunk), answer)
    case 'described':
      return afterDescription({ ...state, described: answer.run }, answer.run)
    case 'verified':
      return afterVerification(shown({ ...state, handlers: answer.handlers }, { obstacle: null }))
    case 'unverified':
      return { ...describe(state, answer.obstacle), verifyAfterMs: PAUSE_MS }
    case 'ended':
      return afterEnd(shown({ ...state, nextRunId: answer.nextRunId }, { obstacle: null }))
    case 'carried':
      return go({ ...state, carriedUpTo: answer.upTo }, 'rest')
    case 'tail':
      return withTail(answer.chunks.reduce(added, state), answer)
    default:
      return withoutItems(state, answer)
  }
}

function afterChunk(state: FeedState, { isFull, wasStored }: Extract<FeedAnswer, { kind: 'chunk' }>): FeedState {
  if (state.step === 'query') return describe(state, null, QUERY_EVERY_MS)
  if (state.step !== 'poll') return go(state, state.step)
  // More items may be available already; another replica may be ahead.
  const pauseMs = isFull || wasStored ? 0 : (pauseAfterMs(state) ?? 0)
  return state.polls % DESCRIBE_EVERY === 0 ? describe(state, null, pauseMs) : poll(state, pauseMs)
}

function withoutItems(state: FeedState, answer: Exclude<PollAnswer, { kind: 'chunk' }>): FeedState {
  if (state.step === 'rest') return go(shown(state, { ending: endOf(state, false) }), 'tail')
  if (state.step === 'query') return describe(state, null, QUERY_EVERY_MS)
  if (answer.kind === 'closing') return end(state)
  if (answer.kind === 'exhausted' && state.step === 'poll') return query(state)
  const isPending = answer.kind === 'pending'
  const isUnseen = isPending && !answer.isAccepted
  if (isUnseen && state.step === 'read' && state.unseen < MAX_UNSEEN)
    return go({ ...state, unseen: state.unseen + 1 }, 'read', READ_AGAIN_MS)
  return describe(
    { ...state, wasPolled: isPending || state.polls > 0 },
    isUnseen ? streamUnanswered(state.run) : null,
    answer.kind === 'unready' ? PAUSE_MS : 0,
  )
}

function afterDescription(before: FeedState, run: RunState): FeedState {
  // A poll may be the cause: the engine forgets a poll that makes the workflow task fail, so this cannot be checked.
  if (run.failsAsTooLarge) throw poisoned(before.run, run.obstacle?.details.problem)
  const state = shown({ ...before, suspected: null }, { obstacle: run.obstacle ?? before.suspected })
  if (state.nextRunId !== undefined) return afterEnd(state)
  // A canceled run may stay open for a while. Its readers have all items so far.
  if (state.aim === 'end') return go(isOpen(run.status) ? live(state) : state, 'wait')
  if (!isOpen(run.status)) return end(state)
  if (state.aim === 'query') return queryOf(state)
  return state.view.isLive || state.wasPolled ? poll(live(state)) : go(state, 'verify', state.verifyAfterMs)
}

function queryOf(state: FeedState): FeedState {
  if (state.handlers === null) return go(state, 'verify', state.verifyAfterMs)
  if (!state.handlers.hasPollQuery) throw exhausted(state.run)
  return go(live(state), 'query')
}

function afterVerification(state: FeedState): FeedState {
  return state.aim === 'query' ? describe(state, null) : poll(live(state))
}

function poll(state: FeedState, pauseMs = 0): FeedState {
  return pauseAfterMs(state) === null ? query(state) : go(state, 'poll', pauseMs)
}

/** The run takes no more polls of its readers. */
function query(state: FeedState): FeedState {
  const querying: FeedState = { ...state, aim: 'query' }
  return state.handlers === null ? go(querying, 'verify') : describe(shown(querying, { obstacle: null }), null)
}

function end(state: FeedState): FeedState {
  const ending: FeedState = { ...state, aim: 'end' }
  return isClosed(state) ? go(ending, 'wait') : describe(ending, null)
}

function afterEnd(state: FeedState): FeedState {
  if (state.step !== 'describe' && !isClosed(state)) return describe(state, null)
  return go(state, state.nextRunId == null ? 'rest' : 'carry')
}

function withTail(state: FeedState, { complete }: Tail): FeedState {
  return go(shown(state, { end: endOf(state, complete) }), null)
}

function endOf({ described, nextRunId, carriedUpTo, view }: FeedState, complete: boolean): RunEnd {
  const { status = 'completed', completedAt = null } = described ?? {}
  const isCarried = carriedUpTo >= view.next
  const next = nextRunId == null ? null : { runId: nextRunId, from: isCarried ? view.next : 0, isReset: !isCarried }
  return { status, completedAt, next, complete }
}

function isClosed({ described }: FeedState): boolean {
  return described !== null && !isOpen(described.status)
}

function pauseAfterMs({ described, polls, maxUpdates }: FeedState): number | null {
  return pauseAfterPollMs({ historyLength: 0, historySizeBytes: 0, ...described, polls }, maxUpdates)
}

function go(state: FeedState, step: FeedStep | null, pauseMs = 0): FeedState {
  return { ...state, step, pauseMs }
}

function describe(state: FeedState, suspected: ServiceError | null, pauseMs = 0): FeedState {
  return { ...go(state, 'describe', pauseMs), suspected }
}

function live(state: FeedState): FeedState {
  return shown(state, { isLive: true, hasPollQuery: state.handlers?.hasPollQuery === true })
}

function added(state: FeedState, chunk: Chunk): FeedState {
  const polls = state.polls + (chunk.isStored ? 1 : 0)
  return shown({ ...state, polls, unseen: 0 }, { next: chunk.next, obstacle: null })
}

/** An obstacle that readers know already is not shown again. */
function shown(state: FeedState, change: Partial<FeedView>): FeedState {
  const { obstacle } = state.view
  const isKnown = change.obstacle && change.obstacle.message === obstacle?.message
  const view: FeedView = { ...state.view, ...change, ...(isKnown && { obstacle }) }
  const isSame = VIEWED.every((key) => view[key] === state.view[key])
  return isSame ? state : { ...state, view }
}

const VIEWED = ['next', 'isLive', 'hasPollQuery', 'obstacle', 'ending', 'end'] as const
