import type { temporal } from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import { type HistoryEvent, successorOf } from '../engine/outcome.ts'
import { catalogWorkflowId } from '../protocol/catalog.ts'
import type { RunRef } from '../protocol/run-ref.ts'

/** What the engine knows of a run. */
export interface RunFacts extends RunRef {
  /** First run of its chain. */
  firstRunId: string
  /** Task queue. */
  catalog: string
  /** Null for a run without a parent in this namespace. */
  parent: RunRef | null
  isOpen: boolean
  /** Epoch milliseconds; null while it is open. */
  closedAt: number | null
}

/** The engine, as the worker's tracing asks it. Every call rejects when it is not answered within some seconds. */
export interface EngineCalls {
  /** The latest run of the id without a run id; null when the engine does not know it. */
  describe(ref: { workflowId: string; runId?: string }): Promise<RunFacts | null>
  /** Of these workflow ids those that have an open run, each with it, as far as the engine's index can tell. */
  openRuns(workflowIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** A run's history in pages, oldest first. */
  history(run: RunRef): AsyncIterable<HistoryEvent[]>
  /** Whether the run that is its successor is known: the last event of a closed run says so. */
  nextRunId(run: RunRef): Promise<string | null>
  /** Whether the workers of that catalog record traces. */
  recordsTraces(catalog: string): Promise<boolean>
}

const DEADLINE_MS = 10_000
const OPEN_STATUSES: readonly unknown[] = [1 /* running */, 8 /* paused */]
const NOT_FOUND = 5
const INVALID_ARGUMENT = 3

export function createEngineCalls({
  connection,
  namespace,
}: {
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>
  namespace: string
}): EngineCalls {
  const { workflowService } = connection
  const soon = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + DEADLINE_MS, call)

  async function describe(execution: { workflowId: string; runId?: string }) {
    const { workflowExecutionInfo } = await soon(() => workflowService.describeWorkflowExecution({ namespace, execution }))
    return workflowExecutionInfo ?? {}
  }

  return {
    async describe(ref) {
      const info = await describe(ref).catch(nullWhenUnknown)
      if (info === null) return null
      const { execution, firstRunId, taskQueue, status, parentExecution, parentNamespaceId, closeTime } = info
      const runId = execution?.runId ?? ''
      const { workflowId: parentId, runId: parentRunId } = parentExecution ?? {}
      return {
        workflowId: ref.workflowId,
        runId,
        firstRunId: firstRunId || runId,
        catalog: taskQueue ?? '',
        parent: parentId && parentRunId && parentNamespaceId !== '' ? { workflowId: parentId, runId: parentRunId } : null,
        isOpen: OPEN_STATUSES.includes(status),
        closedAt: closeTime ? Number(closeTime.seconds) * 1000 + Math.floor((closeTime.nanos ?? 0) / 1e6) : null,
      }
    },

    async openRuns(workflowIds) {
      const open = new Map<string, string>()
      const asked = workflowIds.filter(isAskable)
      if (asked.length === 0) return open
      const query = `WorkflowId IN (${asked.map(quoted).join(', ')}) AND (ExecutionStatus = 'Running' OR ExecutionStatus = 'Paused')`
      const { executions } = await soon(() => workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1000 }))
      for (const { execution } of executions ?? []) {
        if (execution?.workflowId && execution.runId) open.set(execution.workflowId, execution.runId)
      }
      return open
    },

    async *history(run) {
      let nextPageToken: Uint8Array | null | undefined = null
      do {
        const request = { namespace, execution: run, ...(nextPageToken && { nextPageToken }) }
        const page: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse = await soon(() =>
          workflowService.getWorkflowExecutionHistory(request),
        )
        yield page.history?.events ?? []
        nextPageToken = page.nextPageToken
      } while (nextPageToken && nextPageToken.length > 0)
    },

    async nextRunId(run) {
      const request = { namespace, execution: run, maximumPageSize: 1 }
      const { history } = await soon(() => workflowService.getWorkflowExecutionHistoryReverse(request))
      return successorOf(history?.events?.[0] ?? {})
    },

    async recordsTraces(catalog) {
      const info = await describe({ workflowId: catalogWorkflowId(catalog) }).catch(nullWhenUnknown)
      const traces = info?.memo?.fields?.traces?.data
      return OPEN_STATUSES.includes(info?.status) && traces !== undefined && traces !== null && Buffer.from(traces).toString() !== 'false'
    },
  }
}

/** Whether the engine's error says that it does not know the run, or never could. */
export function isUnknownRun(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === NOT_FOUND || error.code === INVALID_ARGUMENT)
}

function nullWhenUnknown(error: unknown): null {
  if (isUnknownRun(error)) return null
  throw error
}

// What the engine's index can't compare; asked one by one it knows them all the same.
function isAskable(workflowId: string): boolean {
  return !/["\\\p{Cc}]/u.test(workflowId)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
