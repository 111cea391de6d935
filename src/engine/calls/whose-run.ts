import { atMost, type Call } from '../../domain/call.ts'
import type { ErrorFacts } from '../../domain/errors.ts'
import { type ExecutionRef, isOpen } from '../../domain/execution.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import { afterRepeats } from '../rpc.ts'
import { toStatus } from '../status.ts'
import { toDate } from '../time.ts'
import { RpcError } from '../transport/transport.ts'
import { LOOK_MS } from './target.ts'
import { toExecution, type Wire } from './wire.ts'

/** A run as it is found when it is not known which of our tries have arrived. */
export interface FoundRun {
  runId: string
  /** First run of its chain. */
  firstRunId: string
  status: ReturnType<typeof toStatus>
  /** Whether it was this request that started it. */
  isOurs: boolean
  /** When it opened or, closed, when it closed. */
  changedAt: Date | null
}

/** Null when there is no such run. For what may have been sent: no failure of the look invites to send it again. */
export async function whoseRun(
  { rpc, namespace }: Wire,
  ref: ExecutionRef,
  requestId: string,
  facts: ErrorFacts,
  call: Call,
): Promise<FoundRun | null> {
  try {
    const request = { namespace, execution: toExecution(ref) }
    const { workflowExecutionInfo, workflowExtendedInfo } = await rpc('describeWorkflowExecution', request, atMost(call, LOOK_MS))
    const { execution, firstRunId, status: code, startTime, closeTime } = workflowExecutionInfo ?? {}
    const runId = execution?.runId ?? ''
    const status = toStatus(code)
    return {
      runId,
      firstRunId: firstRunId || runId,
      status,
      isOurs: Object.hasOwn(workflowExtendedInfo?.requestIdInfos ?? {}, requestId),
      changedAt: toDate(isOpen(status) ? startTime : closeTime),
    }
  } catch (error) {
    if (isGoneOrClosed(error)) return null
    throw toServiceError(error instanceof RpcError ? afterRepeats(error) : error, { kind: 'write', facts })
  }
}
