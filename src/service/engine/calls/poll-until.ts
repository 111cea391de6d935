import { deadlineSignal, sleep } from '../../../shared/lib/abort.ts'
import { type Call, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { type PollHolder, type PollSlots, pollHolder } from '../waits/poll-slots.ts'
import { classifyPollFailure, type PollFailure, pauseBetweenPollsMs } from './poll-failure.ts'

export interface PollAttempts<T> {
  /** Waits on the engine, for at most 20 s. Its call has a deadline of its own. */
  poll(call: Call): Promise<Polled<T>>
  /** Reads the same without waiting. */
  read(call: Call): Promise<Polled<T>>
  /** By default each failure but `final` is followed by a read. */
  afterFailure?(failure: PollFailure, isFirstPoll: boolean): AfterFailure
}

export interface Polled<T> {
  /** Null while it does not exist. */
  found: T | null
  /** Whether the engine answered a poll at once, and would answer the next one at once too. */
  isRepeated?: boolean
}

/** What follows a failed poll. The request's log line has the failure, unless it is thrown. */
export type AfterFailure =
  | 'throw'
  /** Polls again after the shortest pause. */
  | 'poll'
  /** Polls again after a pause that grows with the failures in a row. */
  | 'back off'
  /** Reads, then backs off. */
  | 'read'

const POLL_DEADLINE_MS = 30_000

// The maximum interval of `waits/watch.ts`: even if one read is late, the next one finds the event within 5 s.
const READ_EVERY_MS = 2500

/**
 * Polls until something is found; null when `call` is over first. Meanwhile the request does not count as in flight.
 * Continues through outages of the engine: rejects only with a failure that waiting cannot end.
 *
 * Each poll takes one of the slots `polls`. While all are in use, it reads at intervals instead. With null, no slot is
 * taken: the caller has one, or needs none. `holder` is the one whose share they use. Default: the caller of the call.
 */
export async function pollUntil<T>(
  { polls, holder }: { polls: PollSlots | null; holder?: PollHolder },
  call: Call,
  attempts: PollAttempts<T>,
): Promise<T | null> {
  call.startWaiting()
  const takeSlot = polls === null ? () => () => {} : () => polls.take(holder ?? pollHolder(call))
  // The number of failures in a row that make polls back off.
  let failures = 0
  for (let isFirst = true; !isOver(call); isFirst = false) {
    const startedAt = Date.now()
    const attempt = await attemptOnce({ takeSlot, lower: () => polls?.lower() }, call, attempts, isFirst)
    if (attempt.found !== null) return attempt.found
    failures = attempt.next === null || attempt.next === 'poll' ? 0 : failures + 1
    await pauseSince(startedAt, pauseAfterMs(attempt, failures), call)
  }
  return null
}

/**
 * Calls `act`, which does not wait, until the engine answers: through outages, with pauses. Null when `call` is over
 * first. Rejects with a failure that waiting cannot end.
 */
export function untilAnswered<T>(call: Call, act: (call: Call) => Promise<T>): Promise<T | null> {
  const once = async (attempt: Call) => ({ found: await act(attempt) })
  const afterFailure = (failure: PollFailure): AfterFailure => (failure === 'final' ? 'throw' : 'back off')
  return pollUntil({ polls: null }, call, { poll: once, read: once, afterFailure })
}

/** Whether the wait is over before anything was found. */
export function isOver({ signal, deadlineAt }: Call): boolean {
  return signal.aborted || Date.now() >= deadlineAt
}

interface Attempt<T> extends Polled<T> {
  isRead: boolean
  /** Null if it did not fail. */
  next: AfterFailure | null
}

async function attemptOnce<T>(
  { takeSlot, lower }: { takeSlot(): (() => void) | null; lower(): void },
  call: Call,
  { poll, read, afterFailure = readUnlessFinal }: PollAttempts<T>,
  isFirst: boolean,
): Promise<Attempt<T>> {
  const freeSlot = takeSlot()
  const isRead = freeSlot === null
  try {
    return { ...(await (isRead ? readNow(read, call) : withPollDeadline(call, poll))), isRead, next: null }
  } catch (error) {
    freeSlot?.()
    const failure = classifyPollFailure(error)
    if (failure === 'limited' && !isRead) lower()
    if (isOver(call)) return { found: null, isRead, next: null }
    const next = afterFailure(failure, isFirst)
    if (next === 'throw') throw error
    call.note({ waitInterrupted: error })
    // An engine that rejects polls may respond to other calls.
    return { found: next === 'read' && !isRead ? await readIfPossible(read, call) : null, isRead, next }
  } finally {
    freeSlot?.()
  }
}

function readUnlessFinal(failure: PollFailure): AfterFailure {
  return failure === 'final' ? 'throw' : 'read'
}

/**
 * Calls `poll` with the deadline of a long poll. The engine holds it for 20 s, but returns at once if its deadline is
 * less than a second away. Each poll therefore has a deadline of its own, and the caller's deadline aborts it.
 */
async function withPollDeadline<T>(call: Call, poll: (call: Call) => Promise<T>): Promise<T> {
  const deadlineAt = Date.now() + POLL_DEADLINE_MS
  const linked = deadlineSignal(Math.min(call.deadlineAt, deadlineAt), call.signal)
  try {
    return await poll({ ...call, signal: linked.signal, deadlineAt })
  } finally {
    linked.release()
  }
}

function readNow<T>(read: PollAttempts<T>['read'], call: Call): Promise<Polled<T>> {
  return read(withTimeout(call, TIMEOUT_MS.describe))
}

/** Null while the engine does not respond: the next poll reports it. */
async function readIfPossible<T>(read: PollAttempts<T>['read'], call: Call): Promise<T | null> {
  try {
    return (await readNow(read, call)).found
  } catch (error) {
    if (classifyPollFailure(error) === 'final' && !isOver(call)) throw error
    return null
  }
}

function pauseAfterMs({ isRead, isRepeated, next }: Attempt<unknown>, failures: number): number {
  if (next !== null) return pauseBetweenPollsMs(failures)
  if (isRead) return READ_EVERY_MS
  return isRepeated ? pauseBetweenPollsMs(0) : 0
}

/** Sleeps until `pauseMs` after `since`, or until `call` is over. */
async function pauseSince(since: number, pauseMs: number, call: Call): Promise<void> {
  const remainingMs = Math.min(since + pauseMs, call.deadlineAt) - Date.now()
  if (remainingMs > 0) await sleep(remainingMs, call.signal)
}
