/** How waits follow a run on the engine, whether they share polls or not, and how a run ended, from its last events. */
import { isObject } from '../../../shared/lib/json.ts'
import { HistoryEventFilterType } from '../../../shared/temporal/enums.ts'
import type { Failure } from '../../../shared/temporal/failure.ts'
import { type TemporalEvent, toClosing, toStatusWord } from '../../../shared/temporal/outcome.ts'
import type { PayloadReader } from '../../../shared/temporal/payload.ts'
import { quoteLiteral } from '../../../shared/temporal/visibility-query.ts'
import { type Closing, isOpen, STATUSES } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { MAX_CAUSES } from '../../../shared/wire/trace/entry.ts'
import { type TraceMeta, toTraceMeta } from '../../../shared/wire/trace/trace-meta.ts'
import { atMost, backgroundCall, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { ServiceError } from '../../model/errors.ts'
import { readLast } from '../calls/history-pages.ts'
import { type EngineContext, executionIds, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { classifyPollFailure, pollUntil } from '../polls.ts'
import type { SharedWaitsPorts } from './shared-waits.ts'

/** How the engine says that something has ended: the run of a workflow, or of an activity of its own. */
export interface Followed {
  /** With a long poll; null if it is still open when the engine ends the poll. */
  poll(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null>
  /** Without one; null while it is open. */
  read(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null>
  findEnded: typeof findEnded
  toError(error: unknown, run: RunRef): unknown
}

const WORKFLOW_RUNS: Followed = { poll, read: readLastEvent, findEnded, toError: toReadError }

/**
 * How the run ended; null when `call` is over first. Used on workerd, where requests cannot share a wait
 * (`shared-waits.ts`). While the engine allows no more polls, the run is read instead.
 */
export async function unsharedWait(
  context: EngineContext,
  run: RunRef,
  call: Call,
  followed: Followed = WORKFLOW_RUNS,
): Promise<Closing | null> {
  try {
    return await pollUntilClosed(context, followed, run, call, 'read')
  } catch (error) {
    throw followed.toError(error, run)
  }
}

/**
 * The same for a wait that requests share: its caller holds a slot for the poll. Ends with `limited` when the engine
 * allows no more polls at the moment.
 */
async function follow(
  context: EngineContext,
  followed: Followed,
  run: RunRef,
  call: Call,
): Promise<Closing | 'limited' | null> {
  try {
    return await pollUntilClosed(context, followed, run, call, 'throw')
  } catch (error) {
    if (classifyPollFailure(error) !== 'limited') throw followed.toError(error, run)
    call.note({ waitInterrupted: error })
    return 'limited'
  }
}

function pollUntilClosed(
  context: EngineContext,
  followed: Followed,
  run: RunRef,
  call: Call,
  whenLimited: 'read' | 'throw',
): Promise<Closing | null> {
  return pollUntil({ polls: null }, call, {
    // The engine responds to each poll of a paused run at once.
    poll: async (polling) => ({ found: await followed.poll(context, run, polling), isRepeated: true }),
    read: async () => ({ found: await readClosingNow(context, run, call, followed) }),
    afterFailure(failure, isFirstPoll) {
      if (failure === 'limited') return whenLimited
      // Later, an engine that restarts may not know its namespaces yet.
      if (failure === 'final' || (failure === 'unregistered' && isFirstPoll)) return 'throw'
      if (failure === 'unreachable') return 'poll'
      // An engine that does not respond to polls may respond to other calls: the run may have ended meanwhile.
      return failure === 'unanswered' ? 'read' : 'back off'
    },
  })
}

function toReadError(error: unknown, run: RunRef): unknown {
  return toServiceError(error, { kind: 'read', details: executionIds(run) })
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

/** How the run ended, by its last event. */
async function readLastEvent(context: EngineContext, run: RunRef, call: Call): Promise<Closing | null> {
  const { events } = await readLast(context, run, call, { maximumPageSize: 1 })
  // The page has the whole batch of the last event, latest first.
  return await readClosing(events.slice(0, 1), context.payloads, run.workflowId)
}

/** How the run ended, without a long poll. Null while it is open, or if it cannot be read now. */
export async function readClosingNow(
  context: EngineContext,
  run: RunRef,
  call: Call,
  followed: Followed = WORKFLOW_RUNS,
): Promise<Closing | null> {
  try {
    return await followed.read(context, run, atMost(call, TIMEOUT_MS.describe))
  } catch (error) {
    if (classifyPollFailure(error) === 'unregistered') return null
    const failure = followed.toError(error, run)
    if (classifyPollFailure(failure) === 'final') throw failure
    return null
  }
}

/** The engine calls of shared waits. No request's deadline ends a call that several requests share. */
export function waitPorts(context: EngineContext, followed: Followed = WORKFLOW_RUNS): SharedWaitsPorts {
  return {
    slots: context.polls,
    poll: (run, signal, note) =>
      follow(context, followed, run, {
        ...backgroundCall('waits', 0),
        deadlineAt: Number.POSITIVE_INFINITY,
        signal,
        note,
      }),
    findEnded: (runs) => followed.findEnded(context, runs),
    readClosing: (run) => readClosingNow(context, run, backgroundCall('waits', TIMEOUT_MS.describe), followed),
  }
}

// Not `!= 'Running'`: a paused run is open too, and older engines reject a query with the word `Paused`.
const ENDED_WORDS = STATUSES.filter((status) => !isOpen(status)).map((status) => quoteLiteral(toStatusWord(status)))
const ENDED = `ExecutionStatus IN (${ENDED_WORDS.join(',')})`

/**
 * The run ids of those that the engine's visibility store lists as ended. It may list a run late, or not at all.
 *
 * Rejects with an `RpcError` while the store is unavailable or at its rate limit.
 */
export async function findEnded(
  { rpc, namespace }: EngineContext,
  runs: readonly RunRef[],
): Promise<ReadonlySet<string>> {
  const runIds = runs.map(({ runId }) => quoteLiteral(runId)).join(',')
  const { executions } = await rpc(
    'listWorkflowExecutions',
    { namespace, query: `${ENDED} AND RunId IN (${runIds})`, pageSize: runs.length },
    backgroundCall('waits', TIMEOUT_MS.describe),
  )
  return new Set((executions ?? []).map(({ execution }) => execution?.runId ?? ''))
}

/** How a run ended and where its trace is, from its last events; null when they hold no close event. */
export async function readClosing(
  events: readonly TemporalEvent[],
  payloads: PayloadReader,
  workflowId: string,
): Promise<Closing | null> {
  const failure = events.at(-1)?.workflowExecutionFailedEventAttributes?.failure
  if (!failure) return toClosing(events, payloads, workflowId)
  const [closing, trace] = await Promise.all([
    toClosing(events, payloads, workflowId),
    traceInFailure(failure, payloads),
  ])
  return closing === null || trace === null ? closing : { ...closing, trace }
}

/**
 * Workers of the older generation put the location of the trace in the details of a failure, or of one of its causes.
 */
export async function traceInFailure(
  failure: Failure,
  payloads: Pick<PayloadReader, 'decode'>,
): Promise<TraceMeta | null> {
  const details = chainOf(failure).flatMap(
    ({ applicationFailureInfo }) => applicationFailureInfo?.details?.payloads ?? [],
  )
  if (details.length === 0) return null
  try {
    const found = (await payloads.decode(details)).find((detail) => isObject(detail) && isObject(detail.trace))
    return isObject(found) ? toTraceMeta(found.trace) : null
  } catch (error) {
    // The codec failed. How the run ended is known without its details.
    if (error instanceof ServiceError) return null
    throw error
  }
}

function chainOf(failure: Failure): Failure[] {
  const chain = [failure]
  for (let next = failure.cause; next && chain.length <= MAX_CAUSES; next = next.cause) chain.push(next)
  return chain
}
