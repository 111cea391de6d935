/** Reads what happened from the engine's histories. */
import type { Client } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import type { Operation, RecordedMessage, RecordedRun } from './record.ts'

type Event = temporal.api.history.v1.IHistoryEvent
type Payloads = temporal.api.common.v1.IPayloads

const READS_AT_ONCE = 8
const CLEANUP = 'the soak is over'

/** Terminates the runs that are still open, and calls `add` with all runs. */
export async function readHistories(
  client: Client,
  operations: readonly Operation[],
  add: (run: RecordedRun) => void,
): Promise<void> {
  const named = new Set(operations.flatMap(({ answer: { runId } }) => runId ?? []))
  const runs = await until('the list has every run, and all have ended', async () => {
    const listed = await listRuns(client)
    const open = [...listed.values()].filter(({ status }) => status === 'RUNNING' || status === 'PAUSED')
    await mapConcurrent(open, READS_AT_ONCE, ({ workflowId }) => end(client, workflowId))
    return [...named].every((runId) => listed.has(runId)) && open.length === 0 && listed
  }).catch(() => listRuns(client)) // The checker reports runs that do not exist.
  await mapConcurrent([...runs.values()], READS_AT_ONCE, async (run) => {
    const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory()
    add(toRun(run, events ?? []))
  })
}

async function end(client: Client, workflowId: string): Promise<void> {
  await client.workflow
    .getHandle(workflowId)
    .terminate(CLEANUP)
    .catch(() => {}) // It has just ended.
}

interface ListedRun {
  workflowId: string
  runId: string
  status: string
  startedAt: number
  closedAt: number | null
}

async function listRuns(client: Client): Promise<Map<string, ListedRun>> {
  const runs = new Map<string, ListedRun>()
  for await (const { workflowId, runId, status, startTime, closeTime } of client.workflow.list()) {
    if (workflowId.startsWith('$')) continue
    const startedAt = startTime.getTime()
    runs.set(runId, { workflowId, runId, status: status.name, startedAt, closedAt: closeTime?.getTime() ?? null })
  }
  return runs
}

const STATUS = new Map([
  ['COMPLETED', 'completed'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'canceled'],
  ['TERMINATED', 'terminated'],
  ['TIMED_OUT', 'timed_out'],
  ['CONTINUED_AS_NEW', 'continued'],
  ['RUNNING', 'running'],
  ['PAUSED', 'paused'],
])

function toRun({ status, ...run }: ListedRun, events: readonly Event[]): RecordedRun {
  const started = events[0]?.workflowExecutionStartedEventAttributes
  const reset = resetOf(run.runId, events)
  return {
    type: 'run',
    ...run,
    firstRunId: started?.firstExecutionRunId ?? run.runId,
    resetMarker: reset,
    startMarker: markerOf(decode(started?.input)),
    status: STATUS.get(status) ?? status,
    output: outputOf(events),
    messages: messagesOf(events),
    stops: events.flatMap((event) => event.workflowExecutionCancelRequestedEventAttributes?.cause ?? []),
    terminatedBy: terminationOf(events),
  }
}

/** The reason of the reset that created this run. The events before it are copies. */
function resetOf(runId: string, events: readonly Event[]): string | null {
  const failure = events
    .map((event) => event.workflowTaskFailedEventAttributes)
    .findLast((attributes) => attributes?.newRunId === runId)
  return failure?.failure?.message ?? null
}

function outputOf(events: readonly Event[]): unknown {
  return decode(events.at(-1)?.workflowExecutionCompletedEventAttributes?.result) ?? null
}

function terminationOf(events: readonly Event[]): string | null {
  const reason = events.at(-1)?.workflowExecutionTerminatedEventAttributes?.reason
  return reason === undefined || reason === CLEANUP ? null : reason
}

function messagesOf(events: readonly Event[]): RecordedMessage[] {
  const outputs = new Map<string, unknown>()
  for (const event of events) {
    const completed = event.workflowExecutionUpdateCompletedEventAttributes
    const updateId = completed?.meta?.updateId
    if (updateId) outputs.set(updateId, decode(completed?.outcome?.success))
  }
  return events.flatMap((event): RecordedMessage[] => {
    const signal = event.workflowExecutionSignaledEventAttributes
    if (signal) return [{ kind: 'signal', marker: String(decode(signal.input)) }]
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest
    if (!update) return []
    const output = outputs.get(update.meta?.updateId ?? '')
    return [{ kind: 'update', marker: String(decode(update.input?.args)), ...(output !== undefined && { output }) }]
  })
}

/** The first value. */
function decode(payloads: Payloads | null | undefined): unknown {
  const data = payloads?.payloads?.[0]?.data
  return data ? JSON.parse(new TextDecoder().decode(data)) : undefined
}

function markerOf(input: unknown): string | null {
  return typeof input === 'object' && input !== null && 'marker' in input ? String(input.marker) : null
}
