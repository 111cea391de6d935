import { fileURLToPath } from 'node:url'
import { Runtime, Worker, type WorkerOptions } from '@temporalio/worker'
import { parseWorkerConfig } from '../config/worker.ts'
import type { CatalogDefinition } from '../protocol/catalog.ts'
import { connect } from './connect.ts'
import { type PorticoPluginOptions, porticoPlugin } from './plugin.ts'
import { orSayWhy } from './startup-failure.ts'
import type { Redact } from './tracing/redact.ts'
import { toTuningOptions } from './tuning.ts'

/** Any option of Temporal's `Worker`; what is given here wins over the environment. */
export interface RunWorkerOptions extends Omit<WorkerOptions, 'taskQueue' | 'workflowsPath'> {
  /** Made by `defineCatalog`. */
  catalog: CatalogDefinition
  /** The file that exports the workflows: a path, or `new URL('./workflows.ts', import.meta.url)`. */
  workflowsPath?: string | URL
  /** Id of the catalog; `SERVICE_CATALOG_ID` when absent. */
  taskQueue?: string
  /** Sees each value of a trace before it leaves the process, and returns what to store instead; must be synchronous. */
  redact?: Redact
  /** Further task queues whose closed runs are archived: those that no worker of the kit serves. */
  traceQueues?: readonly string[]
  /** How a worker with payload codecs archives values: `encoded`, the default, or `decoded`: readable by whoever may read the traces. */
  tracePayloads?: 'decoded' | 'encoded'
  /** Whether a catalog that the engine refuses ends the worker: `stop`, the default, or `warn`. */
  onPublishError?: PorticoPluginOptions['onPublishError']
}

// Time for activities in hand to end before they are told to; the SDK's own default tells them at once. Orchestrators kill after 30 s.
const SHUTDOWN_GRACE_TIME = '10s'

/**
 * Runs a worker until SIGINT or SIGTERM, and publishes its catalog.
 *
 * Reads `SERVICE_CATALOG_ID`, `ENGINE_…` from the environment when called (`docs/configuration.md`). Resolves when all work in hand
 * is done and the connection is closed: the process then has nothing left to do. Rejects with a `ConfigError` that lists every
 * fault of the environment, or when the engine can't be reached or refuses the catalog.
 */
export async function runWorker(given: RunWorkerOptions): Promise<void> {
  const {
    catalog,
    workflowsPath,
    redact,
    onPublishError,
    traceQueues = [],
    tracePayloads = 'encoded',
    plugins = [],
    ...options
  } = given
  const config = await orSayWhy(() =>
    parseWorkerConfig(process.env, { catalogRequired: options.taskQueue === undefined }),
  )
  for (const warning of config.warnings) Runtime.instance().logger.warn(warning)
  const onReady = sayReady(catalog, options.connection ? null : config.engine.address)
  const portico = porticoPlugin({
    catalog,
    onReady,
    traces: config.traces,
    traceQueues,
    tracePayloads,
    ...(redact && { redact }),
    ...(onPublishError && { onPublishError }),
  })
  const connection = options.connection ?? (await orSayWhy(() => connect(config.engine)))
  try {
    const worker = await Worker.create({
      namespace: config.engine.namespace,
      taskQueue: config.catalog ?? '',
      shutdownGraceTime: SHUTDOWN_GRACE_TIME,
      ...toTuningOptions(config.tuning),
      ...options,
      ...(workflowsPath !== undefined && {
        workflowsPath: workflowsPath instanceof URL ? fileURLToPath(workflowsPath) : workflowsPath,
      }),
      connection,
      plugins: [portico, ...plugins],
    })
    await worker.run()
  } finally {
    if (!options.connection) await connection.close()
  }
}

function sayReady({ workflows }: CatalogDefinition, address: string | null) {
  return ({ options: { taskQueue, namespace } }: Worker): void =>
    Runtime.instance().logger.info('Worker ready', {
      catalog: taskQueue,
      workflows: workflows.length,
      namespace,
      address,
    })
}
