/** The runs of the model, as the checker of the soak reads them from histories. */
import type { RecordedMessage, RecordedRun } from '../../lab/soak/record.ts'
import { REPLACED } from './contested-ids.ts'
import { firstValue, type HistoryEvent, type Payloads, type Run, STATUS } from './engine-model/run.ts'

const WORDS: Readonly<Record<Run['status'], string>> = {
  [STATUS.running]: 'running',
  [STATUS.completed]: 'completed',
  [STATUS.failed]: 'failed',
  [STATUS.canceled]: 'canceled',
  [STATUS.terminated]: 'terminated',
  [STATUS.continued]: 'continued',
  [STATUS.timedOut]: 'timed_out',
  [STATUS.paused]: 'paused',
}

interface Attributes {
  workflowExecutionSignaledEventAttributes?: { input: Payloads | null }
  workflowExecutionUpdateAcceptedEventAttributes?: {
    acceptedRequest: { meta: { updateId: string }; input: { args: Payloads | null } }
  }
  workflowExecutionUpdateCompletedEventAttributes?: { meta: { updateId: string }; outcome: { success?: Payloads } }
  workflowExecutionCompletedEventAttributes?: { result: Payloads }
  workflowExecutionCancelRequestedEventAttributes?: { cause: string }
  workflowExecutionTerminatedEventAttributes?: { reason: string }
  workflowTaskFailedEventAttributes?: { newRunId: string; failure: { message: string } }
}

export function recordedRun(run: Run): RecordedRun {
  const events: readonly (HistoryEvent & Attributes)[] = run.events
  const of = <K extends keyof Attributes>(name: K) => events.flatMap((event) => event[name] ?? [])
  const startMarker = markerOf(run.input)
  return {
    type: 'run',
    workflowId: run.workflowId,
    runId: run.runId,
    firstRunId: run.firstRunId,
    resetMarker:
      of('workflowTaskFailedEventAttributes').findLast(({ newRunId }) => newRunId === run.runId)?.failure.message ??
      null,
    startMarker,
    startedAt: run.startedAt,
    closedAt: run.closedAt,
    status: WORDS[run.status],
    output: firstValue(of('workflowExecutionCompletedEventAttributes')[0]?.result) ?? null,
    messages: messagesIn(events),
    stops: of('workflowExecutionCancelRequestedEventAttributes').map(({ cause }) => cause),
    terminatedBy:
      of('workflowExecutionTerminatedEventAttributes').find(({ reason }) => !isReplaced(run, reason))?.reason ?? null,
  }
}

/** Whether a start has terminated the run: the engine, or the service by its run id. */
function isReplaced({ workflowId }: Run, reason: string): boolean {
  const isOfStart = reason.startsWith('TerminateIfRunning') || reason === 'a new run of the workflow id starts'
  return isOfStart && workflowId.startsWith(REPLACED)
}

/** Of the input of a start; null without one. */
export function markerOf(input: Payloads | null | undefined): string | null {
  const value = firstValue(input)
  const marker = typeof value === 'object' && value !== null && 'marker' in value ? value.marker : null
  return typeof marker === 'string' ? marker : null
}

function messagesIn(events: readonly (HistoryEvent & Attributes)[]): RecordedMessage[] {
  const outputs = new Map(
    events.flatMap(({ workflowExecutionUpdateCompletedEventAttributes: ended }) =>
      ended === undefined ? [] : [[ended.meta.updateId, firstValue(ended.outcome.success)] as const],
    ),
  )
  return events.flatMap((event): RecordedMessage[] => {
    const signal = event.workflowExecutionSignaledEventAttributes
    if (signal !== undefined) return [{ kind: 'signal', marker: String(firstValue(signal.input)) }]
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest
    if (update === undefined) return []
    const output = outputs.get(update.meta.updateId)
    return [{ kind: 'update', marker: String(firstValue(update.input.args)), ...(output !== undefined && { output }) }]
  })
}
