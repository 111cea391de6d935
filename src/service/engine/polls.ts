/**
 * Long polls on the engine, whatever they wait for: the slots that limit them, how one is repeated until something is
 * found, and what its failures mean. docs/decisions/026-waits-share-polls.md.
 */

import { deadlineSignal, sleep } from '../../shared/lib/abort.ts'
import { GrpcCode } from '../../shared/temporal/grpc-code.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { isOutage } from '../model/errors.ts'
import { hasDetail, isBusyWorkflow, isRetryable, isTransient } from './errors.ts'
import { RpcError } from './transport/transport.ts'

/** Whose share of the slots a poll uses; null without a limit. */
export type PollHolder = string | null

export interface PollSlots {
  hasFree(holder: PollHolder): boolean
  /** Whether the holder has a slot. False without a limit. */
  holds(holder: PollHolder): boolean
  /** Takes a slot and returns the function that frees it; null while the holder may have no more. */
  take(holder: PollHolder): (() => void) | null
  /**
   * Call this when the engine has rejected a poll, after its slot was freed: fewer slots are available for some
   * minutes.
   */
  lower(): void
}

/** Callers with rules of the policy have a share each. An access token uses that of its creator. */
export function pollHolder({ caller }: Call): PollHolder {
  return caller?.kind === 'granted' ? (caller.delegatedBy ?? caller.id) : null
}

/**
 * A holder gets a slot while it has fewer than are free. So one alone gets half of all, two get a third each, and there
 * is always one for the next.
 */
export function createPollSlots(maxPolls: number): PollSlots {
  const limit = createPollLimit(maxPolls)
  const held = new Map<string, number>()
  let used = 0

  function hasFree(holder: PollHolder): boolean {
    const own = holder === null ? 0 : (held.get(holder) ?? 0)
    return own < limit.current() - used
  }

  function count(holder: PollHolder, change: number): void {
    used += change
    if (holder === null) return
    const own = (held.get(holder) ?? 0) + change
    if (own === 0) held.delete(holder)
    else held.set(holder, own)
  }

  return {
    hasFree,
    holds: (holder) => holder !== null && held.has(holder),
    take(holder) {
      if (!hasFree(holder)) return null
      count(holder, 1)
      let isTaken = true
      return () => {
        if (isTaken) count(holder, -1)
        isTaken = false
      }
    },
    lower: () => limit.lower(used),
  }
}

/** How many long polls may be open. The engine's own limit is per namespace, and others use it too. */
interface PollLimit {
  current(): number
  /** The engine rejected a poll while `openPolls` others were open. */
  lower(openPolls: number): void
}

// Rejections within this time lower the limit once: an engine under load also rejects polls that were sent before.
const SETTLE_MS = 2000

// The engine holds a poll for 20 s: after that time others have released some of theirs.
const RAISE_EVERY_MS = 20_000

/**
 * After a rejection the limit is ten percent below the number of open polls. Every 20 s it rises by ten percent of
 * `maxPolls`.
 */
function createPollLimit(maxPolls: number): PollLimit {
  const step = Math.ceil(maxPolls / 10)
  let lowered = maxPolls
  let loweredAt = Number.NEGATIVE_INFINITY
  const current = () => Math.min(maxPolls, lowered + step * Math.floor((Date.now() - loweredAt) / RAISE_EVERY_MS))
  return {
    current,
    lower(openPolls) {
      if (Date.now() - loweredAt < SETTLE_MS) return
      lowered = Math.floor(Math.min(openPolls, current()) * 0.9)
      loweredAt = Date.now()
    },
  }
}

interface PollAttempts<T> {
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
type AfterFailure =
  | 'throw'
  /** Polls again after the shortest pause. */
  | 'poll'
  /** Polls again after a pause that grows with the failures in a row. */
  | 'back off'
  /** Reads, then backs off. */
  | 'read'

const POLL_DEADLINE_MS = 30_000

// The maximum interval of `waits/shared-waits.ts`: even if one read is late, the next one finds the event within 5 s.
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

/** What a failed poll means for the wait. Every failure but `final` only interrupts it. */
type PollFailure =
  /** The engine cannot be reached at the moment. */
  | 'unreachable'
  /** The engine allows no more polls at the moment. Other calls may succeed. */
  | 'limited'
  /** The engine did not respond to the poll, or the run takes none at the moment. Other calls may succeed. */
  | 'unanswered'
  /** The engine does not know the namespace: it is starting, or the namespace has been deleted. */
  | 'unregistered'
  /** The run has ended, but its outcome cannot be read at the moment: the codec or the engine failed. */
  | 'unreadable'
  | 'final'

export function classifyPollFailure(error: unknown): PollFailure {
  if (isOutage(error)) return 'unreadable'
  if (!(error instanceof RpcError)) return 'final'
  if (isRetryable(error)) return 'unreachable'
  if (hasDetail(error, 'NamespaceNotFoundFailure')) return 'unregistered'
  if (error.code === GrpcCode.CANCELLED) return 'unanswered' // our own signal has ended the poll
  if (!isTransient(error)) return 'final'
  return error.code === GrpcCode.RESOURCE_EXHAUSTED && !isBusyWorkflow(error) ? 'limited' : 'unanswered'
}

// The engine responds to each poll of a paused run at once, and an engine at its limits must not get more polls.
const PAUSE_MS = 1000
const MAX_PAUSE_MS = 5000

/** `failures` counts polls that failed in a row. */
export function pauseBetweenPollsMs(failures: number): number {
  return Math.min(PAUSE_MS * Math.max(1, failures), MAX_PAUSE_MS)
}
