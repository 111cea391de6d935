import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/model/call.ts'
import type { ExecutionRef } from '../../domain/model/execution.ts'
import type { HistoryEvent } from '../../temporal/outcome.ts'
import { type EngineContext, toExecution } from '../context.ts'

// One event is enough for most runs. After about a thousand events the search ends.
const END_PAGE_SIZES = [1, 40, 250, 250, 250, 250]

export interface HistoryPage {
  events: HistoryEvent[]
  /** Null after the last page. */
  nextPageToken: Uint8Array | null
}

type PageOptions = Pick<
  temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest,
  'maximumPageSize' | 'nextPageToken'
>

export async function readPage(
  { rpc, namespace }: EngineContext,
  ref: ExecutionRef,
  call: Call,
  options: PageOptions,
): Promise<HistoryPage> {
  return toPage(await rpc('getWorkflowExecutionHistory', { namespace, execution: toExecution(ref), ...options }, call))
}

/** The last events, latest first. */
export async function readLast(
  { rpc, namespace }: EngineContext,
  ref: ExecutionRef,
  call: Call,
  options: PageOptions,
): Promise<HistoryPage> {
  return toPage(
    await rpc('getWorkflowExecutionHistoryReverse', { namespace, execution: toExecution(ref), ...options }, call),
  )
}

function toPage({
  history,
  nextPageToken,
}: Pick<
  temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse,
  'history' | 'nextPageToken'
>): HistoryPage {
  return { events: history?.events ?? [], nextPageToken: nextPageToken?.length ? nextPageToken : null }
}

/**
 * The last events, oldest first. Reads backwards until a page has an event for which `isEnough` is true. `needsMore`
 * says that the last event alone is never enough, so that the first page gets more than one event.
 */
export async function readEnd(
  context: EngineContext,
  ref: ExecutionRef,
  call: Call,
  isEnough: (event: HistoryEvent) => boolean,
  needsMore = false,
): Promise<HistoryEvent[]> {
  const backwards: HistoryEvent[] = []
  let nextPageToken: Uint8Array | null = null
  for (const maximumPageSize of END_PAGE_SIZES.slice(needsMore ? 1 : 0)) {
    const page: HistoryPage = await readLast(context, ref, call, { maximumPageSize, nextPageToken })
    backwards.push(...page.events)
    if (page.events.some(isEnough) || page.nextPageToken === null) break
    nextPageToken = page.nextPageToken
  }
  return backwards.reverse()
}
