import type { temporal } from '@temporalio/proto'
import type { Execution } from '../protocol/execution.ts'
import { memoKeys } from '../protocol/memo-keys.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import { toSingleValue } from '../protocol/single-value.ts'
import type { HistoryEvent } from './outcome.ts'
import type { Payload } from './payload.ts'
import type { PayloadReader } from './payload-reader.ts'

/** What the first events tell of a run. */
export type Opening = Omit<Execution, 'closing' | 'status'>

export async function toOpening(
  workflowId: string,
  events: readonly HistoryEvent[],
  payloads: Pick<PayloadReader, 'decode' | 'decodeJson'>,
): Promise<Opening> {
  const started = events[0]?.workflowExecutionStartedEventAttributes
  if (!started) throw new Error(`the history of ${workflowId} does not begin with its start`)
  const runId = ownRunId(started, events)
  return {
    workflowId,
    runId,
    firstRunId: started.firstExecutionRunId || runId,
    workflowName: started.workflowType?.name ?? '',
    catalog: started.taskQueue?.name ?? '',
    parent: toRunRef(started.parentWorkflowExecution),
    memo: await decodeMemo(started.workflowType?.name ?? '', memoFields(started, events), payloads),
    input: toSingleValue(await payloads.decode(started.input?.payloads)),
  }
}

/** The start of a reset run is its base run's; where it was reset, its own id stands. */
function ownRunId(
  started: temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes,
  events: readonly HistoryEvent[],
): string {
  const reset = events.findLast((event) => event.workflowTaskFailedEventAttributes?.newRunId)
  return reset?.workflowTaskFailedEventAttributes?.newRunId || started.originalExecutionRunId || ''
}

function memoFields(
  started: temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes,
  events: readonly HistoryEvent[],
): Map<string, Payload> {
  const upserts = events.map((event) => event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields)
  return new Map([started.memo?.fields, ...upserts].flatMap((fields) => Object.entries(fields ?? {})))
}

export function toRunRef(execution: temporal.api.common.v1.IWorkflowExecution | null | undefined): RunRef | null {
  return execution?.workflowId && execution.runId ? { workflowId: execution.workflowId, runId: execution.runId } : null
}

/** The protocol's fields alone: a user's own may be megabytes that nobody asked for. */
export async function decodeMemo(
  workflowName: string,
  fields: ReadonlyMap<string, Payload>,
  payloads: Pick<PayloadReader, 'decode' | 'decodeJson'>,
): Promise<ReadonlyMap<string, unknown>> {
  const given = memoKeys(workflowName).flatMap((key) => {
    const payload = fields.get(key)
    return payload === undefined ? [] : [{ key, payload }]
  })
  const values = await payloads.decodeJson(given.map(({ payload }) => payload))
  return new Map(given.map(({ key }, index) => [key, values[index]]))
}
