import type { NativeConnection } from '@temporalio/worker'
import { ARCHIVER_TYPE, archiverId } from '../../protocol/trace/keys.ts'
import type { HistoryEvent } from '../../temporal/outcome.ts'
import { toPayload } from '../../temporal/payload.ts'
import type { ClosedRun } from './archive-run.ts'

/** The engine, as the archiver uses it. Every call rejects when `signal` aborts or the engine does not answer in time. */
export interface ArchiverEngine {
  /** How many runs of the task queue closed in the window. */
  countClosed(window: Window, signal: AbortSignal): Promise<number>
  /** The runs of the task queue that closed in the window, in pages. */
  listClosed(window: Window, signal: AbortSignal): AsyncIterable<ClosedRun[]>
  /** Pages of a run's history; null when the engine does not have it any more. */
  history(run: ClosedRun, signal: AbortSignal): Promise<AsyncIterable<HistoryEvent[]> | null>
  /** Whether the engine keeps activities alive that no workflow has started. */
  hasStandaloneActivities(signal: AbortSignal): Promise<boolean>
  /** Makes sure that the archiver of the catalog is started. */
  ensureArchiver(since: number, signal: AbortSignal): Promise<void>
}

/** Close times, in epoch milliseconds, both ends included. */
export interface Window {
  from: number
  until: number
}

const DEADLINE_MS = 10_000
const PAGE_SIZE = 1000
const NOT_FOUND = 5

const SECONDS = 1000
const TEN_YEARS_SECONDS = 10 * 365 * 24 * 60 * 60
const ID_REUSE_ALLOW_DUPLICATE = 1
const ID_CONFLICT_USE_EXISTING = 2

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

  /** The SDK's connection does not abort calls: on shutdown this stops waiting for them. */
  async function call<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    try {
      return await Promise.race([aborted, connection.withDeadline(Date.now() + DEADLINE_MS, send)])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  // Pauses of a run, and runs that are open, have no close time.
  const queryOf = ({ from, until }: Window) =>
    `TaskQueue = ${quoted(catalog)} AND CloseTime BETWEEN '${new Date(from).toISOString()}' AND '${new Date(until).toISOString()}'`

  async function page(run: ClosedRun, nextPageToken: Uint8Array | null, signal: AbortSignal) {
    const execution = { workflowId: run.workflowId, runId: run.runId }
    return call(signal, () =>
      workflowService.getWorkflowExecutionHistory({ namespace, execution, ...(nextPageToken && { nextPageToken }) }),
    )
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
        yield (listed.executions ?? []).flatMap(({ execution }) =>
          execution?.workflowId && execution.runId
            ? [{ namespace, workflowId: execution.workflowId, runId: execution.runId }]
            : [],
        )
        nextPageToken = listed.nextPageToken?.length ? listed.nextPageToken : undefined
      } while (nextPageToken)
    },

    async history(run, signal) {
      const first = await page(run, null, signal).catch(nullWhenNotFound)
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

    async hasStandaloneActivities(signal) {
      const { namespaceInfo } = await call(signal, () => workflowService.describeNamespace({ namespace }))
      // The SDK's first versions do not know the call.
      return 'startActivityExecution' in workflowService && (namespaceInfo?.capabilities?.standaloneActivities ?? false)
    },

    async ensureArchiver(since, signal) {
      const name = archiverId(catalog)
      await call(signal, () =>
        workflowService.startActivityExecution({
          namespace,
          identity,
          requestId: crypto.randomUUID(),
          activityId: name,
          activityType: { name: ARCHIVER_TYPE },
          taskQueue: { name },
          // One of the two timeouts is required.
          startToCloseTimeout: { seconds: toInt64(TEN_YEARS_SECONDS) },
          heartbeatTimeout: { seconds: toInt64(HEARTBEAT_TIMEOUT_MS / SECONDS) },
          // The attempt never resets: a coefficient above 1 would make each takeover slower than the last.
          retryPolicy: { initialInterval: { seconds: toInt64(1) }, backoffCoefficient: 1, maximumAttempts: 0 },
          idReusePolicy: ID_REUSE_ALLOW_DUPLICATE,
          idConflictPolicy: ID_CONFLICT_USE_EXISTING,
          input: { payloads: [toPayload({ since })] },
        }),
      )
    },
  }
}

/** A worker that was killed is replaced after this time. */
export const HEARTBEAT_TIMEOUT_MS = 30_000

type Int64 = NonNullable<
  NonNullable<
    Parameters<NativeConnection['workflowService']['startActivityExecution']>[0]['startToCloseTimeout']
  >['seconds']
>

// protobufjs writes plain numbers as well; its types know only Long.
function toInt64(value: number): Int64 {
  return value as unknown as Int64
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

function nullWhenNotFound(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return null
  throw error
}
