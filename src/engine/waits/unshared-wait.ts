import { atMost, type Call } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { deadlineSignal, sleep } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { HistoryEventFilterType } from '../../temporal/enums.ts'
import { readLast } from '../calls/history-pages.ts'
import { classifyPollFailure, type PollFailure, pauseBetweenPollsMs } from '../calls/poll-failure.ts'
import { type EngineContext, executionIds, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { readClosing } from '../read-closing.ts'

const POLL_DEADLINE_MS = 30_000

/**
 * Calls `poll` with the deadline of a long poll. The engine holds it for 20 s, but returns at once if its deadline is
 * less than a second away. Each poll therefore has a deadline of its own, and the caller's deadline aborts it.
 */
export async function withPollDeadline<T>(call: Call, poll: (call: Call) => Promise<T>): Promise<T> {
  const deadlineAt = Date.now() + POLL_DEADLINE_MS
  const linked = deadlineSignal(Math.min(call.deadlineAt, deadlineAt), call.signal)
  try {
    return await poll({ ...call, signal: linked.signal, deadlineAt })
  } finally {
    linked.release()
  }
}

/**
 * How the run ended; null when `call` is over first. Used on workerd, where requests cannot share a wait
 * (`shared-waits.ts`).
 */
export async function unsharedWait(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  for (let rejections = 1; ; rejections++) {
    const polledAt = Date.now()
    const end = await follow(context, run, call)
    if (end !== 'limited') return end
    const closing = await readClosingNow(context, run, call)
    if (closing !== null) return closing
    await pauseSince(polledAt, pauseBetweenPollsMs(rejections), call)
  }
}

/** The same, but ends with `limited` when the engine allows no more polls at the moment. */
export async function follow(context: EngineContext, run: RunRef, call: Call): Promise<Closing | 'limited' | null> {
  // Counts polls that failed in a row while the engine was reachable.
  let failures = 0
  for (let isFirst = true; !isOver(call); isFirst = false) {
    const polledAt = Date.now()
    const { closing, failure } = await pollOnce(context, run, call, isFirst)
    if (failure === 'limited') return failure
    if (closing !== null) return closing
    failures = failure === null || failure === 'unreachable' ? 0 : failures + 1
    await pauseSince(polledAt, pauseBetweenPollsMs(failures), call)
  }
  return null
}

/** Sleeps until `pauseMs` after `since`, or until `call` is over. */
export async function pauseSince(since: number, pauseMs: number, call: Call): Promise<void> {
  const remainingMs = Math.min(since + pauseMs, call.deadlineAt) - Date.now()
  if (remainingMs > 0) await sleep(remainingMs, call.signal)
}

/** Whether the wait is over before the run has ended. */
export function isOver({ signal, deadlineAt }: Call): boolean {
  return signal.aborted || Date.now() >= deadlineAt
}

interface PollResult {
  /** Null while the run is open. */
  closing: Closing | null
  failure: PollFailure | null
}

/** Rejects only if waiting longer cannot help. */
async function pollOnce(context: EngineContext, run: RunRef, call: Call, isFirst: boolean): Promise<PollResult> {
  try {
    return { closing: await withPollDeadline(call, (polling) => poll(context, run, polling)), failure: null }
  } catch (error) {
    if (isOver(call)) return { closing: null, failure: null }
    const failure = classifyPollFailure(error)
    // Later, an engine that restarts may not know its namespaces yet.
    if (failure === 'final' || (failure === 'unregistered' && isFirst))
      throw toServiceError(error, { kind: 'read', details: executionIds(run) })
    call.note({ waitInterrupted: error })
    // An engine that does not respond to polls may respond to other calls: the run may have ended meanwhile.
    return { closing: failure === 'unanswered' ? await readClosingNow(context, run, call) : null, failure }
  }
}

/** Null if the run is still open when the engine ends the poll. */
async function poll({ rpc, namespace, payloads }: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  const { history } = await rpc(
    'getWorkflowExecutionHistory',
    {
      namespace,
      execution: toExecution(run),
      historyEventFilterType: HistoryEventFilterType.CLOSE_EVENT,
      waitNewEvent: true,
    },
    call,
  )
  return await readClosing(history?.events ?? [], payloads, run.workflowId)
}

/** How the run ended, by its last event, without a long poll. Null while it is open, or if it cannot be read now. */
export async function readClosingNow(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  try {
    const { events } = await readLast(context, run, atMost(call, TIMEOUT_MS.describe), { maximumPageSize: 1 })
    // The page has the whole batch of the last event, latest first.
    return await readClosing(events.slice(0, 1), context.payloads, run.workflowId)
  } catch (error) {
    if (classifyPollFailure(error) === 'unregistered') return null
    const failure = toServiceError(error, { kind: 'read', details: executionIds(run) })
    if (classifyPollFailure(failure) === 'final') throw failure
    return null
  }
}
