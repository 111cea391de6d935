import { Runtime, type Worker, type WorkerPlugin } from '@temporalio/worker'
import type { WorkerTraces } from '../config/worker.ts'
import type { CatalogDefinition, TraceTemplates } from '../protocol/catalog.ts'
import { holdPolls } from './catalog/hold-polls.ts'
import { publishCatalog } from './publish-catalog.ts'
import type { Redact } from './redact.ts'
import { createTracing, type Tracing } from './tracing.ts'

export interface PorticoPluginOptions {
  /** Made by `defineCatalog`. */
  catalog: CatalogDefinition
  /** Called once, when the catalog is published and the worker takes tasks. */
  onReady?: (worker: Worker) => void
  /** Where traces go, as `parseTracesConfig(process.env)` reads it; nowhere when absent. */
  traces?: WorkerTraces
  /** Sees each value of a trace before it leaves the process. */
  redact?: Redact
}

const NOT_HELD = 'This version of @temporalio/worker cannot hold back its polls: the worker may be seen before its catalog is published'

/**
 * For those who build their `Worker` themselves: when the worker runs, publishes the catalog of its task queue through its
 * connection, then lets it poll for workflow tasks. A catalog that can't be published shuts the worker down; `worker.run()`
 * then rejects with the reason.
 */
export function porticoPlugin({ catalog, onReady, traces, redact }: PorticoPluginOptions): WorkerPlugin {
  /** One plugin may serve several workers; each keeps the sinks that were made for it. */
  const tracings = new WeakMap<object, Tracing>()
  return {
    name: 'portico',
    configureWorker(options) {
      if (traces === undefined) return options
      const tracing = createTracing({ traces, redact, logger: () => Runtime.instance().logger })
      const configured = tracing.configure(options)
      if (configured.sinks?.defaultWorkerLogger) tracings.set(configured.sinks.defaultWorkerLogger, tracing)
      return configured
    },
    async runWorker(worker, next) {
      const sink = worker.options.sinks?.defaultWorkerLogger
      const tracing = sink === undefined ? null : (tracings.get(sink) ?? null)
      tracing?.start(worker)
      const { isHeld, release } = holdPolls(worker)
      if (!isHeld) Runtime.instance().logger.warn(NOT_HELD, { taskQueue: worker.options.taskQueue })
      const running = next(worker).finally(() => tracing?.stop())
      const publishing = publish(worker, catalog, tracing?.templates ?? false).then(
        () => {
          release()
          onReady?.(worker)
        },
        (error) => {
          if (worker.getState() === 'RUNNING') worker.shutdown()
          throw error
        },
      )
      const [ran, published] = await Promise.allSettled([running, publishing])
      for (const result of [published, ran]) if (result.status === 'rejected') throw result.reason
    },
  }
}

async function publish(worker: Worker, definition: CatalogDefinition, traces: TraceTemplates): Promise<void> {
  const { namespace, taskQueue, identity } = worker.options
  const { connection } = worker
  if (!connection) throw new Error('A worker without a connection has no engine to publish its catalog to')
  try {
    const { published, hash } = await publishCatalog({ connection, namespace, catalog: taskQueue, definition, traces, identity })
    Runtime.instance().logger.info(published ? 'Catalog published' : 'Catalog is published already', {
      catalog: taskQueue,
      namespace,
      hash,
    })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Catalog ${taskQueue} can't be published to namespace ${namespace}: ${reason}`, { cause })
  }
}
