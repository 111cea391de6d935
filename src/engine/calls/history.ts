import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/call.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import type { HistoryEvent } from '../outcome.ts'
import { toExecution, type Wire } from './wire.ts'

export interface Page {
  events: HistoryEvent[]
  /** Null after the last page. */
  nextPageToken: Uint8Array | null
}

export async function readPage(
  { rpc, namespace }: Wire,
  ref: ExecutionRef,
  call: Call,
  options: Pick<temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest, 'maximumPageSize' | 'nextPageToken'>,
): Promise<Page> {
  const { history, nextPageToken } = await rpc('getWorkflowExecutionHistory', { namespace, execution: toExecution(ref), ...options }, call)
  return { events: history?.events ?? [], nextPageToken: nextPageToken?.length ? nextPageToken : null }
}

/** The last events, oldest first: `atLeast` of them where there are as many. */
export async function readEnd({ rpc, namespace }: Wire, ref: ExecutionRef, call: Call, atLeast: number): Promise<HistoryEvent[]> {
  const request = { namespace, execution: toExecution(ref), maximumPageSize: atLeast }
  const { history } = await rpc('getWorkflowExecutionHistoryReverse', request, call)
  return (history?.events ?? []).toReversed()
}
