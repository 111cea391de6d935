import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import type { ErrorFacts } from '../../domain/errors.ts'
import type { Status } from '../../protocol/execution.ts'
import { describeRun } from '../../temporal/describe-run.ts'
import { type EngineContext, toExecution } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import { withPossibleEffect } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'

/** A request for an unpinned workflow id that must not be carried out twice. */
export interface AtMostOnceRequest {
  /** What every error about it carries. */
  facts: ErrorFacts & { workflowId: string }
  /** That of the start, the same for all attempts; undefined for a request that starts nothing. */
  requestId?: string
}

/** A run as it is found when it is not known which of our tries have arrived. */
export interface FoundRun {
  runId: string
  /** First run of its chain. */
  firstRunId: string
  status: Status
  /** Whether it was this request that started it. */
  isOurs: boolean
  /** Epoch ms, by the engine's clock. */
  startedAt: number | null
  closedAt: number | null
}

/** The latest run, or the one named; null when there is none. As a request may have been sent, no error invites to send it again. */
export async function findRun(
  context: EngineContext,
  { facts, requestId }: AtMostOnceRequest,
  call: Call,
  runId?: string,
): Promise<FoundRun | null> {
  const { rpc, namespace } = context
  const { workflowId } = facts
  const execution = toExecution(runId === undefined ? { workflowId } : { workflowId, runId })
  try {
    const { workflowExecutionInfo, workflowExtendedInfo } = await rpc(
      'describeWorkflowExecution',
      { namespace, execution },
      atMost(call, TIMEOUT_MS.describe),
    )
    const { runId: found, firstRunId, status, startedAt, completedAt } = describeRun(workflowExecutionInfo)
    return {
      runId: found,
      firstRunId,
      status,
      isOurs: requestId !== undefined && Object.hasOwn(workflowExtendedInfo?.requestIdInfos ?? {}, requestId),
      startedAt: startedAt?.getTime() ?? null,
      closedAt: completedAt?.getTime() ?? null,
    }
  } catch (error) {
    if (isGoneOrClosed(error)) return null
    throw toServiceError(error instanceof RpcError ? withPossibleEffect(error) : error, { kind: 'write', facts })
  }
}

/** The run that this request has started, when that is where this run's chain begins. */
export async function findStartedRun(
  context: EngineContext,
  run: FoundRun,
  asked: AtMostOnceRequest,
  call: Call,
): Promise<FoundRun | null> {
  const { runId, firstRunId, isOurs } = run
  const first = isOurs || firstRunId === runId ? run : await findRun(context, asked, call, firstRunId)
  return first?.isOurs ? first : null
}
