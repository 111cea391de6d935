/** A worker's tracing. `docs/protocol.md` shows how a span gets from `span()` into a stored trace. */
import type { Logger, Worker, WorkerOptions } from '@temporalio/worker'
import type { WorkerTraces } from '../../shared/config/worker.ts'
import { withDeadline } from '../../shared/lib/abort.ts'
import type { TraceTemplates } from '../../shared/wire/catalog.ts'
import { nexusId, stepId } from '../../shared/wire/trace/keys.ts'
import { runArchiverWorker } from '../closed-runs/archive/archiver-worker.ts'
import { traceDestinations, traceTemplates } from '../closed-runs/archive/destinations.ts'
import { createTraceReader, encodeEntries, toCodec } from './codec.ts'
import { createWarnings } from './rate-limited-warnings.ts'
import { type Redact, safeRedact, unredacted } from './redact.ts'
import { type Recorder, type SpanRun, withSpanContext } from './span.ts'
import { createSpanBuffer } from './span-buffer.ts'
import { spanLists } from './span-lists.ts'

export interface WorkerTracingOptions {
  traces: WorkerTraces
  redact?: Redact | undefined
  /** Additional task queues whose runs are archived. */
  queues?: readonly string[] | undefined
  /** How values are archived if the worker has payload codecs. Default: `encoded`. */
  payloads?: 'decoded' | 'encoded' | undefined
  /** Default: 5 seconds. */
  archiveEveryMs?: number | undefined
  logger: () => Logger
}

/** Tracing never fails or delays a workflow or an activity. */
export interface WorkerTracing {
  /** Where the traces are written, for the catalog's memo. */
  templates: TraceTemplates
  /** Adds interceptors, with which activities and Nexus operations record spans. */
  configure(options: WorkerOptions): WorkerOptions
  /** Call before the worker takes its first task. */
  start(worker: Worker): void
  /** Sends buffered spans and hands the archiver over to another process. Takes at most two seconds. */
  stop(): Promise<void>
}

// Bounds how long an unreachable store can delay a shutdown.
const STOP_TIMEOUT_MS = 2000
const SEND_TIMEOUT_MS = 10_000

export function createWorkerTracing(options: WorkerTracingOptions): WorkerTracing {
  const templates = traceTemplates(options.traces)
  let running: RunningTracing | null = null

  function record<T>(
    run: Partial<SpanRun> | undefined,
    parent: (runId: string) => string,
    attempt: number | null,
    act: () => Promise<T>,
  ): Promise<T> {
    if (running === null || run?.runId === undefined) return act()
    const { namespace = running.namespace, runId } = run
    return withSpanContext({ run: { namespace, runId }, parentId: parent(runId), attempt, record: running.record }, act)
  }

  function configure({ interceptors, ...rest }: WorkerOptions): WorkerOptions {
    return {
      ...rest,
      interceptors: {
        ...interceptors,
        // The first interceptor is the outermost: the others may record spans too.
        activity: [
          ({ info: { workflowExecution, activityId, attempt } }) => ({
            inbound: {
              execute: (input, next) =>
                record(
                  workflowExecution,
                  (runId) => stepId(runId, activityId),
                  attempt,
                  () => next(input),
                ),
            },
          }),
          ...(interceptors?.activity ?? []),
        ],
        nexus: [
          () => ({
            inbound: {
              startOperation(input, next) {
                const caller = callerOf(input.ctx.inboundLinks)
                return record(
                  caller,
                  (runId) => nexusId(runId, caller?.eventId ?? ''),
                  null,
                  () => next(input),
                )
              },
            },
          }),
          ...(interceptors?.nexus ?? []),
        ],
      },
    }
  }

  return {
    templates,
    configure: (workerOptions) => (templates === false ? workerOptions : configure(workerOptions)),
    start(worker) {
      if (templates !== false) running = startTracing(worker, options)
    },
    async stop() {
      await running?.stop()
      running = null
    },
  }
}

interface RunningTracing {
  namespace: string
  record: Recorder
  stop(): Promise<void>
}

function startTracing(
  worker: Worker,
  { traces, redact, queues = [], payloads = 'encoded', archiveEveryMs, logger }: WorkerTracingOptions,
): RunningTracing {
  const { connection } = worker
  if (!connection) throw new Error('The worker needs a connection to archive traces')
  const { namespace, taskQueue, identity, loadedDataConverter } = worker.options
  const { warn, flush: flushWarnings } = createWarnings(logger())
  const codec = toCodec(loadedDataConverter.payloadCodecs)
  const encode =
    codec === null || payloads === 'decoded'
      ? null
      : (entries: Parameters<typeof encodeEntries>[0]) => encodeEntries(entries, codec)
  const ownRedact = redact === undefined ? unredacted : safeRedact(redact, warn)
  const redactedBy = redact === undefined ? null : taskQueue
  const lists = spanLists(traces)
  const sending = new AbortController()
  const buffer = createSpanBuffer({
    send: async (run, entries) =>
      lists?.append(run, entries, { signal: sending.signal, deadlineAt: Date.now() + SEND_TIMEOUT_MS }),
    encode,
    redact: ownRedact,
    redactedBy,
    warn,
  })
  const ports = {
    spans: lists,
    destinations: traceDestinations(traces),
    payloads: createTraceReader(codec, { redacted: redact !== undefined }),
    encode,
    redact: ownRedact,
    redactedBy,
    maxBytes: traces.maxBytes,
    warn,
  }
  const archiving = new AbortController()
  const archivers = [...new Set([taskQueue, ...queues])].map((catalog) =>
    runArchiverWorker(
      { connection, namespace, catalog, identity, ports, warn, pollMs: archiveEveryMs },
      archiving.signal,
    ),
  )
  return {
    namespace,
    record: buffer.add,
    async stop() {
      archiving.abort()
      const flushed = Promise.all([buffer.flush(), ...archivers]).then(([unsent]) => unsent)
      // Undefined when it takes too long.
      const unsent = await withDeadline(flushed, Date.now() + STOP_TIMEOUT_MS, sending.signal).catch(() => undefined)
      if (unsent !== 0) warn('The worker stopped before all spans were sent', { dropped: unsent })
      sending.abort()
      await lists?.close()
      flushWarnings()
    },
  }
}

/** The event that scheduled a Nexus operation, from the operation's links; undefined without a link to an event. */
function callerOf(links: readonly { url: URL }[]): (SpanRun & { eventId: string }) | undefined {
  for (const { url } of links) {
    const [, namespace, runId] = /\/namespaces\/([^/]+)\/workflows\/[^/]+\/([^/]+)\/history$/.exec(url.pathname) ?? []
    const eventId = url.searchParams.get('eventID')
    if (namespace && runId && eventId)
      return { namespace: decodeURIComponent(namespace), runId: decodeURIComponent(runId), eventId }
  }
  return undefined
}
