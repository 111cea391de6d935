/** The tracing of a worker: `docs/protocol.md` has a picture of how a span gets from `span()` into a stored trace. */
import type { Logger, Worker, WorkerOptions } from '@temporalio/worker'
import type { WorkerTraces } from '../../config/worker.ts'
import type { TraceTemplates } from '../../protocol/catalog.ts'
import { nexusId, stepId } from '../../protocol/trace/keys.ts'
import { hostArchiver } from '../archive/archiver-worker.ts'
import { traceTargets, traceTemplates } from '../archive/destinations.ts'
import { encodeEntries, toCodec, traceValues } from './codec.ts'
import { createWarnings } from './rate-limited-warnings.ts'
import { guarded, type Redact } from './redact.ts'
import { type Recorder, type SpanRun, withSpanContext } from './span.ts'
import { createSpanBuffer } from './span-buffer.ts'
import { spanLists } from './span-lists.ts'

export interface TracingOptions {
  traces: WorkerTraces
  redact?: Redact | undefined
  /** Further task queues whose runs are archived: those that no worker of the kit serves. */
  queues?: readonly string[] | undefined
  /** How values of a worker with payload codecs are archived. */
  payloads?: 'decoded' | 'encoded' | undefined
  logger: () => Logger
}

/** Nothing of it fails or delays what a workflow or an activity does. */
export interface Tracing {
  /** Where its traces go, for the catalog's memo. */
  templates: TraceTemplates
  /** The worker's options, with interceptors that let activities and Nexus operations record spans. */
  configure(options: WorkerOptions): WorkerOptions
  /** Call before the worker takes its first task. */
  start(worker: Worker): void
  /** Sends buffered spans and hands the archiver over, within two seconds. */
  stop(): Promise<void>
}

// Of a shutdown, whatever hangs.
const STOP_WITHIN_MS = 2000
const SEND_TIMEOUT_MS = 10_000

export function createTracing({ traces, redact, queues = [], payloads = 'encoded', logger }: TracingOptions): Tracing {
  const templates = traceTemplates(traces)
  let running: { namespace: string; record: Recorder; stop(): Promise<void> } | null = null

  function start(worker: Worker): void {
    const { connection } = worker
    if (!connection) throw new Error('A worker without a connection cannot archive traces')
    const { namespace, taskQueue, identity, loadedDataConverter } = worker.options
    const { warn, flush: flushWarnings } = createWarnings(logger())
    const codec = toCodec(loadedDataConverter.payloadCodecs)
    const encode =
      codec === null || payloads === 'decoded'
        ? null
        : (entries: Parameters<typeof encodeEntries>[0]) => encodeEntries(entries, codec)
    const safeRedact = redact === undefined ? sameValue : guarded(redact, warn)
    const lists = spanLists(traces)
    const ending = new AbortController()
    const buffer = createSpanBuffer({
      send: async (run, texts) =>
        lists?.append(run, texts, { signal: ending.signal, deadlineAt: Date.now() + SEND_TIMEOUT_MS }),
      encode,
      redact: safeRedact,
      warn,
    })
    const ports = {
      spans: lists,
      targets: traceTargets(traces),
      payloads: traceValues(codec, { redacted: redact !== undefined }),
      encode,
      redact: safeRedact,
      maxBytes: traces.maxBytes,
      warn,
    }
    const hosting = new AbortController()
    const hosts = [...new Set([taskQueue, ...queues])].map((catalog) =>
      hostArchiver({ connection, namespace, catalog, identity, ports, warn }, hosting.signal),
    )
    running = {
      namespace,
      record: buffer.add,
      async stop() {
        hosting.abort()
        const unsent = await within(
          STOP_WITHIN_MS,
          Promise.all([buffer.flush(), ...hosts]).then(([left]) => left),
        )
        if (unsent !== 0) warn('The worker ends before all spans were sent', { dropped: unsent ?? undefined })
        ending.abort()
        await lists?.close()
        flushWarnings()
      },
    }
  }

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

  function configure({ interceptors, ...options }: WorkerOptions): WorkerOptions {
    return {
      ...options,
      interceptors: {
        ...interceptors,
        // The first one is the outermost: other interceptors may record spans too.
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
    configure: (options) => (templates === false ? options : configure(options)),
    start: (worker) => (templates === false ? undefined : start(worker)),
    async stop() {
      await running?.stop()
      running = null
    },
  }
}

const sameValue: Redact = (_path, value) => value

/** The event that scheduled a Nexus operation, as its link names it; undefined when the operation has no such link. */
function callerOf(links: readonly { url: URL }[]): (SpanRun & { eventId: string }) | undefined {
  for (const { url } of links) {
    const [, namespace, runId] = /\/namespaces\/([^/]+)\/workflows\/[^/]+\/([^/]+)\/history$/.exec(url.pathname) ?? []
    const eventId = url.searchParams.get('eventID')
    if (namespace && runId && eventId)
      return { namespace: decodeURIComponent(namespace), runId: decodeURIComponent(runId), eventId }
  }
  return undefined
}

/** Null when it takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, ms, null)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
