import { attachIds } from '../../../domain/model/attach-ids.ts'
import { atMost, type Call } from '../../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../../domain/model/deadlines.ts'
import type { ErrorFacts } from '../../../domain/model/errors.ts'
import type { Status } from '../../../protocol/execution.ts'
import { describeRun } from '../../../temporal/describe-run.ts'
import { type EngineContext, toExecution } from '../../context.ts'
import { isGoneOrClosed, toServiceError } from '../../errors.ts'
import { withPossibleEffect } from '../../retry.ts'
import { RpcError } from '../../transport/transport.ts'

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

/** Whether the request started this run, or the first run of its chain. For a run that is known to have received it. */
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
