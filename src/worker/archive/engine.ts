import type { NativeConnection } from '@temporalio/worker'
import { CATALOG_TYPE, type CatalogMemo, catalogWorkflowId, parseCatalogMemo } from '../../protocol/catalog.ts'
import { describeRun, toRunRef } from '../../temporal/describe-run.ts'
import { ActivityIdConflictPolicy, ActivityIdReusePolicy } from '../../temporal/enums.ts'
import { nullOnGrpcNotFound } from '../../temporal/grpc-code.ts'
import type { HistoryEvent } from '../../temporal/outcome.ts'
import { fromMemo, toPayload } from '../../temporal/payload.ts'
import { TEN_YEARS_MS, toDuration } from '../../temporal/time.ts'
import { quoteLiteral } from '../../temporal/visibility-query.ts'
import type { ClosedRun } from './closed-run.ts'
import { createEngineCall } from './engine-call.ts'

/** The engine calls of the archiver. Each rejects when `signal` aborts or the engine does not respond in time. */
export interface ArchiverEngine {
  /** The number of runs of the task queue that closed in the window. */
  countClosed(window: Window, signal: AbortSignal): Promise<number>
  /** The runs of the task queue that closed in the window, in pages. */
  listClosed(window: Window, signal: AbortSignal): AsyncIterable<ClosedRun[]>
  /** Pages of a run's history; null when the engine no longer has it. */
  history(run: ClosedRun, signal: AbortSignal): Promise<AsyncIterable<HistoryEvent[]> | null>
  /**
   * Whether the workers of the catalog redact values, according to the catalog that was published last. Unlike the API,
   * the archiver believes a catalog that was terminated: what it stores remains.
   */
  isCatalogRedacted(signal: AbortSignal): Promise<boolean>
  /** Whether the engine runs activities that no workflow has started. */
  hasStandaloneActivities(signal: AbortSignal): Promise<boolean>
  /** Starts the scanner unless it is running. It scans runs that closed after `since`. */
  ensureScanner(scanner: ScannerActivity, since: number, signal: AbortSignal): Promise<void>
}

/** The standalone activity that scans the closed runs of a task queue. */
export interface ScannerActivity {
  /** Also the name of its own task queue. */
  id: string
  type: string
}

/** Close times, in epoch milliseconds, both ends included. */
export interface Window {
  from: number
  until: number
}

const PAGE_SIZE = 1000

export interface ArchiverEngineOptions {
  connection: Pick<NativeConnection, 'withAbortSignal' | 'withDeadline' | 'workflowService'>
  namespace: string
  catalog: string
  identity: string
}

export function createArchiverEngine({
  connection,
  namespace,
  catalog,
  identity,
}: ArchiverEngineOptions): ArchiverEngine {
  const { workflowService } = connection
  const call = createEngineCall(connection)

  // Open runs have no close time.
  function queryOf({ from, until }: Window): string {
    const [first, last] = [from, until].map((ms) => new Date(ms).toISOString())
    return `TaskQueue = ${quoteLiteral(catalog)} AND CloseTime BETWEEN '${first}' AND '${last}'`
  }

  async function page(run: ClosedRun, nextPageToken: Uint8Array | null, signal: AbortSignal) {
    const execution = { workflowId: run.workflowId, runId: run.runId }
    return call(signal, () =>
      workflowService.getWorkflowExecutionHistory({ namespace, execution, ...(nextPageToken && { nextPageToken }) }),
    )
  }

  /** The memo of a catalog's latest run, which may be closed; null for any other run. */
  async function readMemo(workflowId: string, signal: AbortSignal): Promise<CatalogMemo | null> {
    const described = await call(signal, () =>
      workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    ).catch(nullOnGrpcNotFound)
    const { workflowName, memo } = describeRun(described?.workflowExecutionInfo)
    return workflowName === CATALOG_TYPE ? parseCatalogMemo(fromMemo(memo)) : null
  }

  return {
    async countClosed(window, signal) {
      const query = queryOf(window)
      const { count } = await call(signal, () => workflowService.countWorkflowExecutions({ namespace, query }))
      return Number(count ?? 0)
    },

    async *listClosed(window, signal) {
      const query = queryOf(window)
      let nextPageToken: Uint8Array | undefined
      do {
        const request = { namespace, query, pageSize: PAGE_SIZE, ...(nextPageToken && { nextPageToken }) }
        const listed = await call(signal, () => workflowService.listWorkflowExecutions(request))
        yield (listed.executions ?? []).flatMap((info) => {
          const run = toRunRef(info.execution)
          const { workflowName, status } = describeRun(info)
          return run === null ? [] : { namespace, ...run, listed: { workflowName, status } }
        })
        nextPageToken = listed.nextPageToken?.length ? listed.nextPageToken : undefined
      } while (nextPageToken)
    },

    async history(run, signal) {
      const first = await page(run, null, signal).catch(nullOnGrpcNotFound)
      if (first === null) return null
      return (async function* () {
        let current = first
        while (true) {
          yield current.history?.events ?? []
          if (!current.nextPageToken?.length) return
          current = await page(run, current.nextPageToken, signal)
        }
      })()
    },

    async isCatalogRedacted(signal) {
      return (
        ((await readMemo(catalogWorkflowId(catalog), signal)) ?? (await readMemo(catalog, signal)))?.redacted ?? false
      )
    },

    async hasStandaloneActivities(signal) {
      const { namespaceInfo } = await call(signal, () => workflowService.describeNamespace({ namespace }))
      // Early versions of the SDK do not have the call.
      return 'startActivityExecution' in workflowService && (namespaceInfo?.capabilities?.standaloneActivities ?? false)
    },

    async ensureScanner({ id, type }, since, signal) {
      await call(signal, () =>
        workflowService.startActivityExecution({
          namespace,
          identity,
          requestId: crypto.randomUUID(),
          activityId: id,
          activityType: { name: type },
          taskQueue: { name: id },
          // The engine requires this timeout or `scheduleToCloseTimeout`.
          startToCloseTimeout: toDuration(TEN_YEARS_MS),
          heartbeatTimeout: toDuration(HEARTBEAT_TIMEOUT_MS),
          // The attempt number never resets: with a coefficient above 1 each takeover would be slower than the last.
          retryPolicy: { initialInterval: toDuration(1000), backoffCoefficient: 1, maximumAttempts: 0 },
          idReusePolicy: ActivityIdReusePolicy.ALLOW_DUPLICATE,
          idConflictPolicy: ActivityIdConflictPolicy.USE_EXISTING,
          input: { payloads: [toPayload({ since })] },
        }),
      )
    },
  }
}

/** After this time another worker takes over from one that was killed. */
const HEARTBEAT_TIMEOUT_MS = 30_000
