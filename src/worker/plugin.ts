import { Runtime, type Worker, type WorkerPlugin } from '@temporalio/worker'
import type { CatalogDefinition } from '../protocol/catalog.ts'
import { publishCatalog } from './publish-catalog.ts'

export interface PorticoPluginOptions {
  /** Made by `defineCatalog`. */
  catalog: CatalogDefinition
}

/**
 * For those who build their `Worker` themselves: publishes the catalog of the worker's task queue, through the worker's own
 * connection, before the worker takes its first task. A catalog that can't be published ends `worker.run()` with the reason.
 */
export function porticoPlugin({ catalog }: PorticoPluginOptions): WorkerPlugin {
  return {
    name: 'portico',
    async runWorker(worker, next) {
      try {
        await publish(worker, catalog)
      } catch (error) {
        await release(worker, next)
        throw error
      }
      await next(worker)
    },
  }
}

async function publish(worker: Worker, definition: CatalogDefinition): Promise<void> {
  const { namespace, taskQueue, identity } = worker.options
  const { connection } = worker
  if (!connection) throw new Error('A worker without a connection has no engine to publish its catalog to')
  const context = { catalog: taskQueue, namespace, workflows: definition.workflows.length }
  try {
    const { published, hash } = await publishCatalog({ connection, namespace, catalog: taskQueue, definition, traces: false, identity })
    Runtime.instance().logger.info(published ? 'Catalog published' : 'Catalog is published already', { ...context, hash })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Catalog ${taskQueue} can't be published to namespace ${namespace}: ${reason}`, { cause })
  }
}

// A worker lets go of its connection only when it has run.
async function release(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
  const running = next(worker)
  if (worker.getState() === 'RUNNING') worker.shutdown()
  await running.catch(() => {})
}
