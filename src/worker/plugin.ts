import { Runtime, type Worker, type WorkerPlugin } from '@temporalio/worker'
import type { WebhookEndpoint } from '../shared/config/webhooks.ts'
import { traceSwitchesOn, type WorkerTraces, webhookSwitches } from '../shared/config/worker.ts'
import type { CatalogDefinition } from '../shared/wire/catalog.ts'
import { exportsOf, keepBundle } from './catalog/bundle-exports.ts'
import { compareExports } from './catalog/compare-exports.ts'
import { uncheckedInputs } from './catalog/define-catalog.ts'
import { holdPolls } from './catalog/hold-polls.ts'
import { keepCatalog } from './catalog/keep-catalog.ts'
import { type CatalogPublication, type Publication, publishCatalog } from './catalog/publish-catalog.ts'
import { startWebhooks } from './closed-runs/webhooks/webhook-worker.ts'
import { startupWarnings } from './startup-warnings.ts'
import type { Redact } from './tracing/redact.ts'
import { createWorkerTracing, type WorkerTracing } from './tracing/worker-tracing.ts'

export interface PorticoPluginOptions {
  /** The worker's catalog, from `defineCatalog`. */
  catalog: CatalogDefinition
  /**
   * Called once, when the catalog is published and the worker polls for tasks. With Worker Versioning also called
   * while the catalog of another version is published, because new workflows are routed there.
   */
  onReady?: (worker: Worker) => void
  /**
   * What happens when the engine rejects the catalog, because it is invalid or permission is denied: `stop`
   * (default) shuts the worker down, `warn` lets it run without a catalog. Transient errors are always retried.
   */
  onPublishError?: 'stop' | 'warn'
  /** Where traces are written, from `parseTracesConfig(process.env)`. Without it the worker writes no traces. */
  traces?: WorkerTraces
  /**
   * The endpoints that receive a message when a run of the worker's task queue ends, from
   * `parseWebhooksConfig(process.env)`. Without it the worker sends no webhooks.
   */
  webhooks?: readonly WebhookEndpoint[]
  /** Replaces values in traces and webhooks before they leave the process. Must be synchronous. */
  redact?: Redact
  /** Additional task queues whose closed runs are archived, for queues that are not served by a Portico worker. */
  traceQueues?: readonly string[]
  /**
   * How values are archived if the worker has payload codecs: `encoded` (default) by the codecs, or `decoded`, which
   * everyone with access to the traces can read.
   */
  tracePayloads?: 'decoded' | 'encoded'
}

export interface PluginTimings {
  /** How often the worker checks that its catalog is still published. Default: 20 seconds. */
  checkEveryMs?: number
  /** How long one attempt to check or publish the catalog may take. Default: 10 seconds. */
  publishTimeoutMs?: number
  /** How often closed runs are listed, for traces and for webhooks. Default: 5 seconds. */
  archiveEveryMs?: number
}

// Bounds how long a catalog stays missing after the engine lost its data or somebody terminated the catalog's run, and
// how long the catalog of a worker that is gone stays (`isGone`).
const CHECK_EVERY_MS = 20_000

/**
 * A Temporal worker plugin for workers that you create yourself.
 *
 * When the worker runs, the plugin publishes the catalog of its task queue through the worker's connection, lets the
 * worker poll for workflow tasks, and checks every 20 seconds that the catalog is still published. If the engine
 * rejects the catalog, the worker is shut down and `worker.run()` rejects with the reason.
 */
export function porticoPlugin(
  options: PorticoPluginOptions,
  { checkEveryMs = CHECK_EVERY_MS, publishTimeoutMs, archiveEveryMs }: PluginTimings = {},
): WorkerPlugin {
  const { catalog, onReady, onPublishError = 'stop', traces, webhooks, redact, traceQueues, tracePayloads } = options
  // One plugin may serve several workers. Each is recognized by its interceptors.
  const tracings = new WeakMap<object, WorkerTracing>()
  let isTraced = false

  function tracingOf(worker: Worker): WorkerTracing | null {
    const factories = worker.options.interceptors?.activity ?? []
    return factories.map((factory) => tracings.get(factory)).find(Boolean) ?? null
  }

  return {
    name: 'portico',
    configureWorker(given) {
      const options = keepBundle(given)
      if (traces === undefined) return options
      const tracing = createWorkerTracing({
        traces,
        redact,
        queues: traceQueues,
        payloads: tracePayloads,
        archiveEveryMs,
        logger: () => Runtime.instance().logger,
      })
      const configured = tracing.configure(options)
      for (const factory of configured.interceptors?.activity ?? []) tracings.set(factory, tracing)
      isTraced ||= tracing.templates !== false
      return configured
    },
    async runWorker(worker, next) {
      const tracing = tracingOf(worker)
      const { logger } = Runtime.instance()
      const { namespace, taskQueue } = worker.options
      tracing?.start(worker)
      const sending = startWebhooks(worker, { endpoints: webhooks ?? [], redact, pollMs: archiveEveryMs, logger })
      const { isHeld, release } = holdPolls(worker)
      const warnings = startupWarnings({
        isHeld,
        isTraced,
        hasInterceptors: tracing !== null,
        ignoredVariables: traces === undefined ? traceSwitchesOn(process.env) : [],
        ignoredWebhooks: webhooks === undefined ? webhookSwitches(process.env) : [],
      })
      for (const warning of warnings) logger.warn(warning, { taskQueue })
      for (const line of uncheckedInputs(catalog)) logger.info(`${taskQueue}.${line}`, { taskQueue })

      const ended = new AbortController()
      void warnOfExports(worker, catalog)
      const running = next(worker).finally(() => {
        ended.abort()
        return Promise.all([tracing?.stop(), sending?.stop()])
      })
      const keeping = keepCatalog({
        publish: (last) =>
          publish(worker, {
            definition: catalog,
            traces: tracing?.templates ?? false,
            redacted: redact !== undefined,
            last,
            timeoutMs: publishTimeoutMs,
          }),
        onPublishError,
        checkEveryMs,
        signal: ended.signal,
        logger,
        fields: { catalog: taskQueue, namespace },
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

async function warnOfExports(worker: Worker, catalog: CatalogDefinition): Promise<void> {
  const exported = await exportsOf(worker)
  const { taskQueue } = worker.options
  if (exported === null) return
  for (const warning of compareExports(catalog, exported)) Runtime.instance().logger.warn(warning, { taskQueue })
}

async function publish(
  worker: Worker,
  options: Pick<CatalogPublication, 'definition' | 'traces' | 'redacted' | 'last' | 'timeoutMs'>,
): Promise<Publication> {
  const { namespace, taskQueue: catalog, identity, workerDeploymentOptions } = worker.options
  const { connection } = worker
  if (!connection) throw new Error('The worker needs a connection to publish its catalog')
  const version = workerDeploymentOptions?.useWorkerVersioning ? workerDeploymentOptions.version : null
  return publishCatalog({ connection, namespace, catalog, identity, version, ...options })
}
