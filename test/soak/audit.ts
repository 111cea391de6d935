/** Compares what the responses said with what the engine recorded. */
import type { Client } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Ledger, WorkflowRecord } from './ledger.ts'

type Event = temporal.api.history.v1.IHistoryEvent

interface RecordedRun {
  runId: string
  status: string
  events: readonly Event[]
}

/** Adds a violation for everything that was lost or doubled. Returns how many runs were read. */
export async function audit(
  client: Client,
  ledger: Ledger,
  onProgress: (done: number, of: number) => void,
): Promise<number> {
  const recorded = await until('the list has every run', async () => {
    const runs = await listRuns(client)
    const missing = ledger.workflows.filter(
      ({ workflowId, finalStatus }) => finalStatus !== null && !runs.has(workflowId),
    )
    const open = [...runs.values()].flat().filter(({ status }) => status === 'RUNNING')
    return missing.length === 0 && open.length === 0 ? runs : null
  }).catch(async (error) => {
    ledger.violate(`Runs are missing in the engine's list, or open: ${error.message}`)
    return listRuns(client)
  })
  const workflows = new Map(ledger.workflows.map((workflow) => [workflow.workflowId, workflow]))
  let done = 0
  for (const [workflowId, runs] of recorded) {
    const workflow = workflows.get(workflowId)
    if (workflow === undefined) ledger.violate(`${workflowId}: was started without a request`)
    else checkWorkflow(ledger, workflow, await readRuns(client, workflowId, runs))
    onProgress(++done, recorded.size)
  }
  return [...recorded.values()].flat().length
}

interface ListedRun {
  runId: string
  status: string
}

async function listRuns(client: Client): Promise<Map<string, ListedRun[]>> {
  const runs = new Map<string, ListedRun[]>()
  for await (const { workflowId, runId, status } of client.workflow.list()) {
    if (workflowId.startsWith('$')) continue
    runs.set(workflowId, [...(runs.get(workflowId) ?? []), { runId, status: status.name }])
  }
  return runs
}

async function readRuns(client: Client, workflowId: string, runs: readonly ListedRun[]): Promise<RecordedRun[]> {
  return Promise.all(
    runs.map(async ({ runId, status }) => {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory()
      return { runId, status, events: events ?? [] }
    }),
  )
}

function checkWorkflow(ledger: Ledger, workflow: WorkflowRecord, runs: readonly RecordedRun[]): void {
  const { workflowId, startedRunIds, messages, finalStatus, isReset } = workflow
  const first = runs.filter(isFirstOfChain)
  const violate = (what: string) => ledger.violate(`${workflowId}: ${what}`)
  if (first.length !== 1) violate(`was started ${first.length} times`)
  if (startedRunIds.size > 1) violate(`responses named the runs ${[...startedRunIds].join(', ')}`)
  for (const runId of startedRunIds)
    if (!runs.some((run) => run.runId === runId)) violate(`run ${runId} does not exist`)
  for (const { kind, value, acknowledged } of messages) {
    const times = runs.flatMap(({ events }) => events).filter((event) => sentValue(event, kind) === value).length
    if (times > 1 || (acknowledged && times === 0)) violate(`${kind} "${value}" was recorded ${times} times`)
  }
  const statuses = runs.map(({ status }) => status.toLowerCase().replace('cancelled', 'canceled'))
  if (finalStatus !== null && !statuses.includes(finalStatus))
    violate(`ended ${finalStatus}, but is ${statuses.join(', ')}`)
  if (runs.length > 1 && !isReset && !runs.some(({ status }) => status === 'CONTINUED_AS_NEW'))
    violate('has several runs')
}

/** Neither continued, retried nor reset. */
function isFirstOfChain({ runId, events }: RecordedRun): boolean {
  const started = events[0]?.workflowExecutionStartedEventAttributes
  return started?.firstExecutionRunId === runId
}

function sentValue(event: Event, kind: 'signal' | 'update'): unknown {
  const payloads =
    kind === 'signal'
      ? event.workflowExecutionSignaledEventAttributes?.input?.payloads
      : event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args?.payloads
  const data = payloads?.[0]?.data
  return data ? JSON.parse(new TextDecoder().decode(data)) : undefined
}
