import { isObject } from '../../shared/lib/json.ts'
import type { Failure } from '../../shared/temporal/failure.ts'
import { type TemporalEvent, toClosing } from '../../shared/temporal/outcome.ts'
import type { PayloadReader } from '../../shared/temporal/payload.ts'
import type { Closing } from '../../shared/wire/execution.ts'
import { MAX_CAUSES } from '../../shared/wire/trace/entry.ts'
import { type TraceMeta, toTraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import { ServiceError } from '../model/errors.ts'

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
