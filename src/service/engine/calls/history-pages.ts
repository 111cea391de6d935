import type { temporal } from '@temporalio/proto'
import type { TemporalEvent } from '../../../shared/temporal/outcome.ts'
import type { Call } from '../../model/call.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { type EngineContext, toExecution } from '../context.ts'
import type { LostResponseAction } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { isInternalFailure } from './changed-token.ts'

// One event is enough for most runs. After about a thousand events the search ends.
const END_PAGE_SIZES = [1, 40, 250, 250, 250, 250]

export interface TemporalEventPage {
  events: TemporalEvent[]
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
): Promise<TemporalEventPage> {
  const request = { namespace, execution: toExecution(ref), ...options }
  let failures = 0

  /** A token that a client has changed may fail each time, and the call needs time to find that out. */
  async function onLostResponse(error: RpcError): Promise<LostResponseAction<'getWorkflowExecutionHistory'>> {
    if (options.nextPageToken && isInternalFailure(error) && ++failures > 1) throw error
    return { retryRequest: request }
  }

  return toPage(await rpc('getWorkflowExecutionHistory', request, call, { onLostResponse }))
}

/** The last events, latest first. */
export async function readLast(
  { rpc, namespace }: EngineContext,
  ref: ExecutionRef,
  call: Call,
  options: PageOptions,
): Promise<TemporalEventPage> {
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
>): TemporalEventPage {
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
  isEnough: (event: TemporalEvent) => boolean,
  needsMore = false,
): Promise<TemporalEvent[]> {
  const backwards: TemporalEvent[] = []
  let nextPageToken: Uint8Array | null = null
  for (const maximumPageSize of END_PAGE_SIZES.slice(needsMore ? 1 : 0)) {
    const page: TemporalEventPage = await readLast(context, ref, call, { maximumPageSize, nextPageToken })
    backwards.push(...page.events)
    if (page.events.some(isEnough) || page.nextPageToken === null) break
    nextPageToken = page.nextPageToken
  }
  return backwards.reverse()
}
