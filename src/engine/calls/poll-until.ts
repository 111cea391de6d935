import { type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import type { EngineContext } from '../context.ts'
import type { PollSlots } from '../waits/poll-slots.ts'
import { isOver, pauseSince } from '../waits/unshared-wait.ts'
import { classifyPollFailure, type PollFailure, pauseBetweenPollsMs } from './poll-failure.ts'

export interface PollAttempts<T> {
  /** Waits on the engine, for at most 20 s. */
  poll(call: Call): Promise<Polled<T>>
  /** Reads the same without waiting. */
  read(call: Call): Promise<Polled<T>>
}

export interface Polled<T> {
  /** Null while it does not exist. */
  found: T | null
  /** Whether the engine answered a poll at once, and would answer the next one at once too. */
  isRepeated?: boolean
}

// The maximum interval of `waits/batches.ts`: even if one read is late, the next one finds the event within 5 s.
const READ_EVERY_MS = 2500

/**
 * Polls until something is found; null when `call` is over first. Meanwhile the request does not count as in flight.
 * While all slots for long polls are in use, it reads at intervals instead. Continues through outages of the engine.
 */
export async function pollUntil<T>(
  { polls }: Pick<EngineContext, 'polls'>,
  call: Call,
  attempts: PollAttempts<T>,
): Promise<T | null> {
  call.startWaiting()
  for (let failures = 0; !isOver(call); ) {
    const startedAt = Date.now()
    const attempt = await attemptOnce(polls, call, attempts)
    if (attempt.found !== null) return attempt.found
    if (attempt.failure !== undefined && !isOver(call)) {
      if (attempt.failure === 'final') throw attempt.error
      call.note({ waitInterrupted: attempt.error })
    }
    failures = attempt.failure === undefined ? 0 : failures + 1
    await pauseSince(startedAt, pauseAfterMs(attempt, failures), call)
  }
  return null
}

interface Attempt<T> extends Polled<T> {
  isRead: boolean
  failure?: PollFailure
  error?: unknown
}

async function attemptOnce<T>(polls: PollSlots, call: Call, { poll, read }: PollAttempts<T>): Promise<Attempt<T>> {
  const readNow = () => read(withTimeout(call, TIMEOUT_MS.describe))
  const freeSlot = polls.take()
  const isRead = freeSlot === null
  try {
    return { ...(await (isRead ? readNow() : poll(call))), isRead }
  } catch (error) {
    freeSlot?.()
    const failure = classifyPollFailure(error)
    if (failure === 'limited' && !isRead) polls.lower()
    // An engine that rejects polls may respond to other calls. If it does not, the next poll reports it.
    const { found } = isRead || failure === 'final' || isOver(call) ? NOTHING : await readNow().catch(() => NOTHING)
    return { found, isRead, failure, error }
  } finally {
    freeSlot?.()
  }
}

const NOTHING = { found: null }

function pauseAfterMs({ isRead, isRepeated }: Attempt<unknown>, failures: number): number {
  if (failures > 0) return pauseBetweenPollsMs(failures)
  if (isRead) return READ_EVERY_MS
  return isRepeated ? pauseBetweenPollsMs(0) : 0
}
