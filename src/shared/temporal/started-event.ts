import type { temporal } from '@temporalio/proto'
import type { Execution } from '../wire/execution.ts'
import { toRunRef } from './describe-run.ts'
import type { TemporalEvent } from './outcome.ts'
import { decodeProtocolMemo, memoFields, type Payload, type PayloadReader } from './payload.ts'

/** What the first events of a history say about the run. */
export interface StartedEvent extends Omit<Execution, 'closing' | 'input' | 'status'> {
  args: unknown[]
}

export async function readStartedEvent(
  workflowId: string,
  events: readonly TemporalEvent[],
  payloads: Pick<PayloadReader, 'decode' | 'decodeJson'>,
): Promise<StartedEvent> {
  const started = events[0]?.workflowExecutionStartedEventAttributes
  if (!started) throw new Error(`the history of ${workflowId} does not begin with WorkflowExecutionStarted`)
  const runId = ownRunId(started, events)
  const workflowName = started.workflowType?.name ?? ''
  return {
    workflowId,
    runId,
    firstRunId: started.firstExecutionRunId || runId,
    workflowName,
    catalog: started.taskQueue?.name ?? '',
    parent: toRunRef(started.parentWorkflowExecution),
    memo: await decodeProtocolMemo(workflowName, currentMemoFields(started, events), payloads),
    args: await payloads.decode(started.input?.payloads),
  }
}

type StartedAttributes = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes

/** A reset run begins with a copy of its base run's events. Its own id is in the event that records the reset. */
function ownRunId(started: StartedAttributes, events: readonly TemporalEvent[]): string {
  const reset = events.findLast((event) => event.workflowTaskFailedEventAttributes?.newRunId)
  return reset?.workflowTaskFailedEventAttributes?.newRunId || started.originalExecutionRunId || ''
}

function currentMemoFields(started: StartedAttributes, events: readonly TemporalEvent[]): Map<string, Payload> {
  const upserts = events.map((event) => event.workflowPropertiesModifiedEventAttributes?.upsertedMemo)
  return new Map([started.memo, ...upserts].flatMap((memo) => [...memoFields(memo)]))
}
