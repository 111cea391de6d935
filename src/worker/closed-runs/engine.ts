import type { temporal } from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import { unlessAborted } from '../../shared/lib/abort.ts'
import { type DescribedRun, describeRun, toRunRef } from '../../shared/temporal/describe-run.ts'
import { GrpcCode, hasGrpcCode, nullOnGrpcNotFound } from '../../shared/temporal/grpc-code.ts'
import type { TemporalEvent } from '../../shared/temporal/outcome.ts'
import { fromMemo, toPayload } from '../../shared/temporal/payload.ts'
import { PROBLEMS_ATTRIBUTE } from '../../shared/temporal/search-attributes.ts'
import { quoteLiteral } from '../../shared/temporal/visibility-query.ts'
import { CATALOG_TYPE, type CatalogMemo, catalogWorkflowId, parseCatalogMemo } from '../../shared/wire/catalog.ts'
import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'

/** The calls of archiver and webhooks. Each rejects when `signal` aborts or the engine does not respond in time. */
export interface ClosedRunsEngine {
  /** The number of runs of the task queue that closed in the window. */
  countClosed(window: Window, signal: AbortSignal): Promise<number>
  /** The runs of the task queue that closed in the window, in pages. */
  listClosed(window: Window, signal: AbortSignal): AsyncIterable<ListedRun[]>
  /** The open runs of the task queue whose workflow tasks fail again and again, in pages. */
  listProblems(signal: AbortSignal): AsyncIterable<ListedRun[]>
  /** Null when the engine no longer has the run. */
  describe(run: RunRef, signal: AbortSignal): Promise<FinalRun | null>
  /** Pages of a run's history; null when the engine no longer has it. */
  history(run: RunRef, signal: AbortSignal): Promise<AsyncIterable<TemporalEvent[]> | null>
  /** The last events of a closed run, oldest first. */
  lastEvents(run: RunRef, signal: AbortSignal): Promise<TemporalEvent[]>
  /** How the attempts at the last workflow task have ended. */
  lastTask(run: RunRef, signal: AbortSignal): Promise<LastTask>
  /**
   * Whether the workers of the catalog redact values, according to the catalog that was published last. Unlike the API,
   * the archiver believes a catalog that was terminated: what it stores remains.
   */
  isCatalogRedacted(signal: AbortSignal): Promise<boolean>
  /** Whether the engine runs activities that no workflow has started. */
  hasStandaloneActivities(signal: AbortSignal): Promise<boolean>
  /** Whether the engine lists runs whose workflow tasks fail. */
  hasReportedProblems(signal: AbortSignal): Promise<boolean>
  /** Starts the activity, unless there is one that its policies do not allow beside it. */
  startActivity(activity: StandaloneActivity, signal: AbortSignal): Promise<void>
}

/** A workflow task that has not completed. */
export interface LastTask {
  /** The event with which the task before it completed; `0` for the first task of a run. */
  after: string
  /** Failures and timeouts, latest first. */
  ends: TemporalEvent[]
}

/** A run, as the engine lists it. */
export interface ListedRun extends RunRef {
  namespace: string
  /** Absent when an earlier attempt to handle the run has failed. */
  listed?: { workflowName: string; status: Status }
}

/** Close times, in epoch milliseconds, both ends included. */
export interface Window {
  from: number
  until: number
}

export interface FinalRun extends DescribedRun {
  /** The run that continues this one after a reset. */
  resetRunId: string | null
}

/** An activity that no workflow has started. */
export interface StandaloneActivity
  extends Omit<
    temporal.api.workflowservice.v1.IStartActivityExecutionRequest,
    'activityType' | 'input' | 'namespace' | 'taskQueue'
  > {
  type: string
  queue: string
  input: unknown
}

const DEADLINE_MS = 10_000
const PAGE_SIZE = 1000

// Enough for the request to cancel, which stands before the events of the cleanup.
const LAST_EVENTS = 100

export interface ClosedRunsEngineOptions {
  connection: Pick<NativeConnection, 'withDeadline' | 'workflowService'>
  namespace: string
  catalog: string
  identity: string
}

export function createClosedRunsEngine({
  connection,
  namespace,
  catalog,
  identity,
}: ClosedRunsEngineOptions): ClosedRunsEngine {
  const { workflowService } = connection

  // The SDK's connection does not abort calls. When the process shuts down, only the wait for them ends.
  async function call<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    return unlessAborted(connection.withDeadline(Date.now() + DEADLINE_MS, send), signal)
  }

  // Open runs have no close time.
  function queryOf({ from, until }: Window): string {
    const [first, last] = [from, until].map((ms) => new Date(ms).toISOString())
    return `TaskQueue = ${quoteLiteral(catalog)} AND CloseTime BETWEEN '${first}' AND '${last}'`
  }

  function historyPage({ workflowId, runId }: RunRef, nextPageToken: Uint8Array | null, signal: AbortSignal) {
    const request = { namespace, execution: { workflowId, runId }, ...(nextPageToken && { nextPageToken }) }
    return call(signal, () => workflowService.getWorkflowExecutionHistory(request))
  }

  /** Without a run id: the latest run. */
  async function describe({ workflowId, runId }: Partial<RunRef>, signal: AbortSignal): Promise<FinalRun | null> {
    const execution = { workflowId: workflowId ?? '', runId: runId ?? '' }
    const described = await call(signal, () =>
      workflowService.describeWorkflowExecution({ namespace, execution }),
    ).catch(nullOnGrpcNotFound)
    if (described === null) return null
    const { workflowExecutionInfo, workflowExtendedInfo } = described
    return { ...describeRun(workflowExecutionInfo), resetRunId: workflowExtendedInfo?.resetRunId || null }
  }

  /** The memo of a catalog's latest run, which may be closed; null for any other run. */
  async function readMemo(workflowId: string, signal: AbortSignal): Promise<CatalogMemo | null> {
    const run = await describe({ workflowId }, signal)
    return run?.workflowName === CATALOG_TYPE ? parseCatalogMemo(fromMemo(run.memo)) : null
  }

  async function* list(query: string, signal: AbortSignal): AsyncGenerator<ListedRun[]> {
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
  }

  function lastPage({ workflowId, runId }: RunRef, nextPageToken: Uint8Array | undefined, signal: AbortSignal) {
    const execution = { workflowId, runId }
    const request = { namespace, execution, maximumPageSize: LAST_EVENTS, ...(nextPageToken && { nextPageToken }) }
    return call(signal, () => workflowService.getWorkflowExecutionHistoryReverse(request))
  }

  async function* latestFirst(run: RunRef, signal: AbortSignal): AsyncGenerator<TemporalEvent> {
    let page = await lastPage(run, undefined, signal)
    while (true) {
      yield* page.history?.events ?? []
      if (!page.nextPageToken?.length) return
      page = await lastPage(run, page.nextPageToken, signal)
    }
  }

  async function capabilities(signal: AbortSignal) {
    const { namespaceInfo } = await call(signal, () => workflowService.describeNamespace({ namespace }))
    return namespaceInfo?.capabilities
  }

  return {
    describe,

    async countClosed(window, signal) {
      const query = queryOf(window)
      const { count } = await call(signal, () => workflowService.countWorkflowExecutions({ namespace, query }))
      return Number(count ?? 0)
    },

    listClosed: (window, signal) => list(queryOf(window), signal),

    listProblems: (signal) =>
      list(
        `TaskQueue = ${quoteLiteral(catalog)} AND ${PROBLEMS_ATTRIBUTE} IS NOT NULL AND ExecutionStatus IN ('Running', 'Paused')`,
        signal,
      ),

    async history(run, signal) {
      const first = await historyPage(run, null, signal).catch(nullOnGrpcNotFound)
      if (first === null) return null
      return (async function* () {
        let current = first
        while (true) {
          yield current.history?.events ?? []
          if (!current.nextPageToken?.length) return
          current = await historyPage(run, current.nextPageToken, signal)
        }
      })()
    },

    async lastEvents(run, signal) {
      const { history } = await lastPage(run, undefined, signal)
      return (history?.events ?? []).toReversed()
    },

    async lastTask(run, signal) {
      const ends: TemporalEvent[] = []
      for await (const event of latestFirst(run, signal)) {
        if (event.workflowTaskCompletedEventAttributes) return { after: String(event.eventId), ends }
        if (event.workflowTaskFailedEventAttributes || event.workflowTaskTimedOutEventAttributes) ends.push(event)
      }
      return { after: '0', ends }
    },

    async isCatalogRedacted(signal) {
      const memo = (await readMemo(catalogWorkflowId(catalog), signal)) ?? (await readMemo(catalog, signal))
      return memo?.redacted ?? false
    },

    async hasStandaloneActivities(signal) {
      // Early versions of the SDK do not have the call.
      return (
        'startActivityExecution' in workflowService && ((await capabilities(signal))?.standaloneActivities ?? false)
      )
    },

    async hasReportedProblems(signal) {
      return (await capabilities(signal))?.reportedProblemsSearchAttribute ?? false
    },

    async startActivity({ type, queue, input, ...activity }, signal) {
      const request = {
        ...activity,
        namespace,
        identity,
        requestId: crypto.randomUUID(),
        activityType: { name: type },
        taskQueue: { name: queue },
        input: { payloads: [toPayload(input)] },
      }
      await call(signal, () => workflowService.startActivityExecution(request)).catch((error) => {
        if (!hasGrpcCode(error, GrpcCode.ALREADY_EXISTS)) throw error
      })
    },
  }
}
