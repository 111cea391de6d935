import { describeRun } from '../../../../shared/temporal/describe-run.ts'
import type { TemporalEvent } from '../../../../shared/temporal/outcome.ts'
import { toEpochMs } from '../../../../shared/temporal/time.ts'
import { quoteLiteral } from '../../../../shared/temporal/visibility-query.ts'
import type { Status } from '../../../../shared/wire/execution.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { attachIds } from '../../../model/attach-ids.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import type { ErrorFacts } from '../../../model/errors.ts'
import { type EngineContext, IDENTITY, toExecution } from '../../context.ts'
import { isGoneOrClosed, toServiceError } from '../../errors.ts'
import { withPossibleEffect } from '../../rpc.ts'
import { RpcError } from '../../transport/transport.ts'
import { readEnd } from '../history-pages.ts'

/** A request to the latest run of a workflow id that must be carried out at most once. */
export interface AtMostOnceRequest {
  /** Part of every error about the request. */
  details: ErrorFacts & { workflowId: string }
  /** The request id of a start, the same for all attempts. Undefined for a request that starts no run. */
  requestId?: string
}

/** A run, described to find out which attempts have reached the engine. */
export interface FoundRun {
  runId: string
  /** The first run of its chain. */
  firstRunId: string
  status: Status
  /** Whether the request started this run. */
  startedByRequest: boolean
  /** Epoch milliseconds, by the engine's clock. */
  startedAt: number | null
  closedAt: number | null
}

/** The latest run of the workflow id, or the run `runId`; null if it does not exist. */
export async function findRun(
  context: EngineContext,
  { details, requestId }: AtMostOnceRequest,
  call: Call,
  runId?: string,
): Promise<FoundRun | null> {
  const { rpc, namespace } = context
  const { workflowId } = details
  const execution = toExecution(runId === undefined ? { workflowId } : { workflowId, runId })
  try {
    const { workflowExecutionInfo, workflowExtendedInfo } = await rpc(
      'describeWorkflowExecution',
      { namespace, execution },
      atMost(call, TIMEOUT_MS.describe),
    )
    const { runId: foundRunId, firstRunId, status, startedAt, completedAt } = describeRun(workflowExecutionInfo)
    return {
      runId: foundRunId,
      firstRunId,
      status,
      startedByRequest: requestId !== undefined && Object.hasOwn(workflowExtendedInfo?.requestIdInfos ?? {}, requestId),
      startedAt: startedAt?.getTime() ?? null,
      closedAt: completedAt?.getTime() ?? null,
    }
  } catch (error) {
    if (isGoneOrClosed(error)) return null
    throw toLookupError(error, details)
  }
}

/** The run that the request started, if that is `run` or the first run of its chain; null otherwise. */
export async function findStartedRun(
  context: EngineContext,
  run: FoundRun,
  request: AtMostOnceRequest,
  call: Call,
): Promise<FoundRun | null> {
  const { runId, firstRunId, startedByRequest } = run
  const first = startedByRequest || firstRunId === runId ? run : await findRun(context, request, call, firstRunId)
  return first?.startedByRequest ? first : null
}

/** Whether the request started this run, or the first run of its chain. The run must have received the request. */
export async function isStartedByRequest(
  context: EngineContext,
  request: AtMostOnceRequest,
  runId: string,
  call: Call,
): Promise<boolean> {
  try {
    const run = await findRun(context, request, call, runId)
    return run !== null && (await findStartedRun(context, run, request, call)) !== null
  } catch (error) {
    throw attachIds(error, { ...request.details, runId })
  }
}

/** The error of a lookup after a lost response. It has no `Retry-After`: the request may have been carried out. */
export function toLookupError(error: unknown, details: ErrorFacts): unknown {
  return toServiceError(error instanceof RpcError ? withPossibleEffect(error) : error, { kind: 'write', details })
}

/** The latest run when it was described. Others may have started since. */
export type LatestRef = RunRef & Pick<FoundRun, 'startedAt'>

/**
 * The run before the latest one, which is closed: the previous run of the same chain or, if `latest` is the first run
 * of its chain, the newest other run of the workflow id. Null if it does not exist.
 */
export async function findPreviousRunId(context: EngineContext, latest: LatestRef, call: Call): Promise<string | null> {
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    return (await continuedRunId(context, latest, bounded)) ?? (await earlierRunId(context, latest, bounded))
  } catch (error) {
    throw toLookupError(error, { workflowId: latest.workflowId })
  }
}

async function continuedRunId({ rpc, namespace }: EngineContext, run: RunRef, call: Call): Promise<string | null> {
  const request = { namespace, execution: toExecution(run), maximumPageSize: 1 }
  const { history } = await rpc('getWorkflowExecutionHistory', request, call)
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null
}

/** Found in the visibility index, which may not contain a run yet that has just started. */
async function earlierRunId(
  { rpc, namespace }: EngineContext,
  { workflowId, runId, startedAt }: LatestRef,
  call: Call,
): Promise<string | null> {
  // The newest run is listed first.
  const request = { namespace, query: `WorkflowId = ${quoteLiteral(workflowId)}`, pageSize: LISTED_RUNS }
  const { executions } = await rpc('listWorkflowExecutions', request, call)
  const earlier = executions?.find(
    ({ execution, startTime }) =>
      execution?.runId !== runId && (toEpochMs(startTime) ?? 0) <= (startedAt ?? Number.POSITIVE_INFINITY),
  )
  return earlier?.execution?.runId || null
}

// The latest run, the one before it, and some that may have started since the latest one was described.
const LISTED_RUNS = 5

/** An update whose response was lost. The run that received it knows it by its id. */
interface SentUpdate {
  updateId: string
  /** A time before the first attempt, by the engine's clock (epoch milliseconds). */
  sentAfter: number
}

/** The latest run or the one before it, whichever has the update; null if neither has. */
export async function findUpdatedRun(
  context: EngineContext,
  latest: LatestRef,
  update: SentUpdate,
  call: Call,
): Promise<string | null> {
  if (await hasUpdate(context, latest, update, call)) return latest.runId
  const runId = await findPreviousRunId(context, latest, call)
  if (runId === null) return null
  const { workflowId } = latest
  return (await hasUpdate(context, { workflowId, runId }, update, call)) ? runId : null
}

/** Whether the run has received the update. Over the HTTP API: whether it has accepted it. */
export async function hasUpdate(context: EngineContext, run: RunRef, update: SentUpdate, call: Call): Promise<boolean> {
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    return context.features.asyncUpdates.supported
      ? await isKnown(context, run, update.updateId, bounded)
      : await isInHistory(context, run, update, bounded)
  } catch (error) {
    if (isGoneOrClosed(error)) return false
    throw toLookupError(error, { workflowId: run.workflowId, updateId: update.updateId })
  }
}

/** True if the run knows the update; otherwise rejects with the error for unknown runs. */
async function isKnown({ rpc, namespace }: EngineContext, run: RunRef, updateId: string, call: Call): Promise<true> {
  const updateRef = { workflowExecution: toExecution(run), updateId }
  await rpc('pollWorkflowExecutionUpdate', { namespace, updateRef, identity: IDENTITY }, call)
  return true
}

async function isInHistory(
  context: EngineContext,
  run: RunRef,
  { updateId, sentAfter }: SentUpdate,
  call: Call,
): Promise<boolean> {
  const isAccepted = ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }: TemporalEvent) =>
    accepted?.protocolInstanceId === updateId
  const isBefore = ({ eventTime }: TemporalEvent) => (toEpochMs(eventTime) ?? sentAfter) < sentAfter
  const events = await readEnd(context, run, call, (event) => isAccepted(event) || isBefore(event))
  return events.some(isAccepted)
}
