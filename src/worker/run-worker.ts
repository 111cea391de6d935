import { fileURLToPath } from 'node:url'
import { Runtime, Worker, type WorkerOptions } from '@temporalio/worker'
import { parseWorkerConfig, type TuningConfig } from '../shared/config/worker.ts'
import type { CatalogDefinition } from '../shared/wire/catalog.ts'
import { readWebhooksFile } from './closed-runs/webhooks/subscriptions.ts'
import { connectToEngine } from './connect.ts'
import { type PorticoPluginOptions, porticoPlugin } from './plugin.ts'

/** Accepts every option of Temporal's `Worker`. Options take precedence over environment variables. */
export interface RunWorkerOptions
  extends Omit<WorkerOptions, 'taskQueue' | 'workflowsPath'>,
    Pick<PorticoPluginOptions, 'catalog' | 'redact' | 'tracePayloads' | 'traceQueues'> {
  /** The file that exports the workflows: an absolute path, or `new URL('./workflows.ts', import.meta.url)`. */
  workflowsPath?: string | URL
  /** The task queue, which is also the id of the catalog. Default: `SERVICE_CATALOG_ID`. */
  taskQueue?: string
  /** If the engine rejects the catalog, `stop` (default) shuts the worker down, `warn` lets it run without one. */
  onPublishError?: PorticoPluginOptions['onPublishError']
}

// How long running activities may take before they are cancelled. Orchestrators kill the process after 30 s.
const SHUTDOWN_GRACE_TIME = '10s'

/**
 * Creates a Temporal worker, publishes its catalog and runs it until SIGINT or SIGTERM.
 *
 * Reads `SERVICE_CATALOG_ID`, `ENGINE_…`, `SERVICE_TRACE_…` and `SERVICE_WEBHOOKS` from the environment when called
 * (`docs/configuration.md`). Resolves when all running tasks have finished and the connection is closed. Rejects with
 * a `ConfigError` that lists every invalid environment variable,
 * or if the engine is unreachable or rejects the catalog.
 */
export async function runWorker(runOptions: RunWorkerOptions): Promise<void> {
  const {
    catalog,
    workflowsPath,
    redact,
    onPublishError,
    traceQueues = [],
    tracePayloads = 'encoded',
    plugins = [],
    ...options
  } = runOptions
  const config = await printStartupFailure(() =>
    parseWorkerConfig(process.env, { catalogRequired: options.taskQueue === undefined, readFile: readWebhooksFile }),
  )
  const warn = (message: string) => Runtime.instance().logger.warn(message)
  for (const warning of config.warnings) warn(warning)
  const onReady = logReady(catalog, options.connection ? null : config.engine.address)
  const portico = porticoPlugin({
    catalog,
    onReady,
    traces: config.traces,
    webhooks: config.webhooks,
    traceQueues,
    tracePayloads,
    ...(redact && { redact }),
    ...(onPublishError && { onPublishError }),
  })
  const own = options.connection ? null : await printStartupFailure(() => connectToEngine(config.engine, warn))
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
      ...(own !== null && { connection: own.connection }),
      plugins: [portico, ...plugins],
    })
    await worker.run()
  } finally {
    await own?.close()
  }
}

function logReady({ workflows }: CatalogDefinition, address: string | null) {
  return ({ options: { taskQueue, namespace } }: Worker): void =>
    Runtime.instance().logger.info('Worker ready', {
      catalog: taskQueue,
      workflows: workflows.length,
      namespace,
      address,
    })
}

/** The five tuning variables as options of the SDK. Unset variables are omitted, so the SDK's defaults apply. */
export function toTuningOptions(tuning: TuningConfig): Partial<WorkerOptions> {
  const { activityExecutions, workflowTaskExecutions, cachedWorkflows, activityPolls, workflowTaskPolls } = tuning
  return {
    ...(activityExecutions !== null && { maxConcurrentActivityTaskExecutions: activityExecutions }),
    ...(workflowTaskExecutions !== null && { maxConcurrentWorkflowTaskExecutions: workflowTaskExecutions }),
    ...(cachedWorkflows !== null && { maxCachedWorkflows: cachedWorkflows }),
    // The SDK (1.24) declares maxConcurrent…TaskPolls but ignores them: only the poller behavior has an effect.
    ...(activityPolls !== null && { activityTaskPollerBehavior: { type: 'simple-maximum', maximum: activityPolls } }),
    ...(workflowTaskPolls !== null && {
      workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: workflowTaskPolls },
    }),
  }
}

/** Prints why a worker cannot start as one line, without a stack trace. */

/** Runs `start`. If it rejects and the error is uncaught, the process prints only its message and exits with 1. */
async function printStartupFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (error instanceof Error) printIfUncaught(error)
    throw error
  }
}

/** Listens for the current turn of the event loop only: a top-level `await` without `catch` throws within it. */
function printIfUncaught(error: Error): void {
  // The program handles uncaught errors itself.
  if (process.listenerCount('uncaughtException') > 0) return
  const print = (uncaught: unknown): void => {
    process.off('uncaughtException', print)
    // Another error: behave as without this listener.
    if (uncaught !== error) throw uncaught
    console.error(error.message)
    process.exit(1)
  }
  process.on('uncaughtException', print)
  setImmediate(() => process.off('uncaughtException', print))
}
