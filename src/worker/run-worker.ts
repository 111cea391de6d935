import { fileURLToPath } from 'node:url'
import { Runtime, Worker, type WorkerOptions } from '@temporalio/worker'
import { parseWorkerConfig, type TuningConfig } from '../config/worker.ts'
import type { CatalogDefinition } from '../protocol/catalog.ts'
import { connect } from './connect.ts'
import { type PorticoPluginOptions, porticoPlugin } from './plugin.ts'
import { printStartupFailure } from './startup-failure.ts'
import { readWebhooksFile } from './webhooks/subscriptions.ts'

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
  for (const warning of config.warnings) Runtime.instance().logger.warn(warning)
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
  const connection = options.connection ?? (await printStartupFailure(() => connect(config.engine)))
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
