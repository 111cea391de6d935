import { Runtime, type Worker, type WorkerPlugin } from '@temporalio/worker'
import type { CatalogDefinition } from '../protocol/catalog.ts'
import { publishCatalog } from './publish-catalog.ts'

export interface PorticoPluginOptions {
  /** Made by `defineCatalog`. */
  catalog: CatalogDefinition
  /** Called once, when the catalog is published and the worker takes tasks. */
  onReady?: (worker: Worker) => void
}

/**
 * For those who build their `Worker` themselves: when the worker runs, publishes the catalog of its task queue through its
 * connection. A catalog that can't be published shuts the worker down; `worker.run()` then rejects with the reason.
 */
export function porticoPlugin({ catalog, onReady }: PorticoPluginOptions): WorkerPlugin {
  return {
    name: 'portico',
    async runWorker(worker, next) {
      // Not after publishing: worker.shutdown() and runUntil() count on a worker that is running at once.
      const running = next(worker)
      const publishing = publish(worker, catalog).then(
        () => onReady?.(worker),
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

async function publish(worker: Worker, definition: CatalogDefinition): Promise<void> {
  const { namespace, taskQueue, identity } = worker.options
  const { connection } = worker
  if (!connection) throw new Error('A worker without a connection has no engine to publish its catalog to')
  try {
    const { published, hash } = await publishCatalog({ connection, namespace, catalog: taskQueue, definition, traces: false, identity })
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
