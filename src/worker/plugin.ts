import { Runtime, type Worker, type WorkerPlugin } from '@temporalio/worker'
import { traceSwitchesOn, type WorkerTraces } from '../config/worker.ts'
import type { CatalogDefinition, TraceTemplates } from '../protocol/catalog.ts'
import { holdPolls } from './catalog/hold-polls.ts'
import { keepCatalog } from './catalog/keep-catalog.ts'
import { type Publication, publishCatalog } from './catalog/publish-catalog.ts'
import type { Redact } from './tracing/redact.ts'
import { createTracing, type Tracing } from './tracing/worker-tracing.ts'

export interface PorticoPluginOptions {
  /** Made by `defineCatalog`. */
  catalog: CatalogDefinition
  /** Called once, when the catalog is published and the worker takes tasks; with Worker Versioning also when another version's stands. */
  onReady?: (worker: Worker) => void
  /**
   * When the engine refuses the catalog (it is invalid, or the worker lacks the permission): `stop`, the default, shuts the
   * worker down; `warn` lets it run without. Whatever passes, like an engine that is away, is tried again in either case.
   */
  onPublishError?: 'stop' | 'warn'
  /** Where traces go, as `parseTracesConfig(process.env)` reads it; nowhere when absent. */
  traces?: WorkerTraces
  /** Sees each value of a trace before it leaves the process, and returns what to store instead; must be synchronous. */
  redact?: Redact
  /** Further task queues whose closed runs are archived: those that no worker of the kit serves. */
  traceQueues?: readonly string[]
  /** How a worker with payload codecs archives values: `encoded`, the default, or `decoded`: readable by whoever may read the traces. */
  tracePayloads?: 'decoded' | 'encoded'
}

const NOT_HELD =
  'This version of @temporalio/worker cannot hold back its polls: the worker may be seen before its catalog is published'

const REPLACED =
  'This worker records no traces: a plugin after portico has replaced interceptors.activity. Put portico last among its plugins'

const NOT_TRACED = 'has no effect on this worker: give porticoPlugin traces: parseTracesConfig(process.env)'

// How long a catalog that got lost (the engine restarted without its data, somebody terminated it) stays so.
const LOOK_EVERY_MS = 60_000

/**
 * For those who build their `Worker` themselves: when the worker runs, publishes the catalog of its task queue through its
 * connection, then lets it poll for workflow tasks, and keeps the catalog published. A catalog that the engine refuses shuts
 * the worker down; `worker.run()` then rejects with the reason.
 */
export function porticoPlugin(
  { catalog, onReady, onPublishError = 'stop', traces, redact, traceQueues, tracePayloads }: PorticoPluginOptions,
  { lookEveryMs = LOOK_EVERY_MS }: { lookEveryMs?: number } = {},
): WorkerPlugin {
  // One plugin may serve several workers, each with interceptors of its own.
  const tracings = new WeakMap<object, Tracing>()
  let isTraced = false
  return {
    name: 'portico',
    configureWorker(options) {
      if (traces === undefined) return options
      const tracing = createTracing({
        traces,
        redact,
        queues: traceQueues,
        payloads: tracePayloads,
        logger: () => Runtime.instance().logger,
      })
      const configured = tracing.configure(options)
      for (const factory of configured.interceptors?.activity ?? []) tracings.set(factory, tracing)
      isTraced ||= tracing.templates !== false
      return configured
    },
    async runWorker(worker, next) {
      const tracing =
        (worker.options.interceptors?.activity ?? []).map((factory) => tracings.get(factory)).find(Boolean) ?? null
      const { logger } = Runtime.instance()
      const { namespace, taskQueue } = worker.options
      tracing?.start(worker)
      const { isHeld, release } = holdPolls(worker)
      if (!isHeld) logger.warn(NOT_HELD, { taskQueue })
      if (isTraced && tracing === null) logger.warn(REPLACED, { taskQueue })
      const unused = traces === undefined ? traceSwitchesOn(process.env) : []
      if (unused.length > 0) logger.warn(`${unused.join(' and ')} ${NOT_TRACED}`, { taskQueue })
      const ended = new AbortController()
      const running = next(worker).finally(() => {
        ended.abort()
        return tracing?.stop()
      })
      const keeping = keepCatalog({
        publish: (starts) =>
          publish(worker, catalog, { traces: tracing?.templates ?? false, redacted: redact !== undefined }, starts),
        onPublishError,
        lookEveryMs,
        signal: ended.signal,
        logger,
        facts: { catalog: taskQueue, namespace },
        onSettled() {
          release()
          onReady?.(worker)
        },
      }).catch((error) => {
        if (worker.getState() === 'RUNNING') worker.shutdown()
        throw error
      })
      const [ran, kept] = await Promise.allSettled([running, keeping])
      for (const result of [kept, ran]) if (result.status === 'rejected') throw result.reason
    },
  }
}

async function publish(
  worker: Worker,
  definition: CatalogDefinition,
  what: { traces: TraceTemplates; redacted: boolean },
  starts: boolean,
): Promise<Publication> {
  const { namespace, taskQueue: catalog, identity, workerDeploymentOptions } = worker.options
  const { connection } = worker
  if (!connection) throw new Error('A worker without a connection has no engine to publish its catalog to')
  const version = workerDeploymentOptions?.useWorkerVersioning ? workerDeploymentOptions.version : null
  return publishCatalog({ connection, namespace, catalog, definition, ...what, identity, version, starts })
}
