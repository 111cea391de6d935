import { type Logger, type NativeConnection, Worker } from '@temporalio/worker'
import type { WebhookEndpoint } from '../../config/webhooks.ts'
import { withDeadline } from '../../lib/abort.ts'
import { createPayloadReader } from '../../temporal/payload.ts'
import { createArchiverEngine } from '../archive/engine.ts'
import { createScanner, runUntil, type ScannerOptions } from '../archive/scanner.ts'
import { createTraceReader, toCodec } from '../tracing/codec.ts'
import { createWarnings, type Warn } from '../tracing/rate-limited-warnings.ts'
import { type Redact, safeRedact } from '../tracing/redact.ts'
import { type DeliveryPorts, deliver, RunDeletedError } from './deliver.ts'
import { createWebhookEngine, DELIVERY_TYPE, type DeliveryInput, deliveryQueue } from './engine.ts'
import { subscribesTo } from './subscriptions.ts'

export interface WebhookWorkerOptions {
  connection: NativeConnection
  namespace: string
  /** The task queue whose runs are reported. */
  catalog: string
  identity: string
  endpoints: readonly WebhookEndpoint[]
  ports: Pick<DeliveryPorts, 'payloads' | 'redact' | 'redactedBy'>
  warn: Warn
  pollMs?: number | undefined
}

// A receiver that hangs holds at most this many connections and requests of this process.
const MAX_DELIVERIES = 10

// An attempt may still be answered; then it is left to another worker. Within the time that a shutdown may take.
const SHUTDOWN_GRACE_TIME = '1s'
const SHUTDOWN_FORCE_TIME = '1500ms'

/**
 * Reports the ends of the runs of the task queue to the endpoints until `signal` aborts.
 *
 * A scan of closed runs starts a standalone activity for each message. The engine keeps it, retries it and rejects a
 * second one for the same run and endpoint.
 *
 * Never rejects; errors are logged.
 */
export async function runWebhookWorker(options: WebhookWorkerOptions, signal: AbortSignal): Promise<void> {
  const { catalog, endpoints, warn } = options
  if (endpoints.length === 0) return
  const archiverEngine = createArchiverEngine(options)
  const engine = createWebhookEngine(options)

  const handle: ScannerOptions['handle'] = async (run, { isStored, isCatalogRedacted }, until) => {
    if (isStored) return
    const { workflowId, runId, listed } = run
    const subscribed = endpoints.filter((endpoint) => listed === undefined || subscribesTo(endpoint, listed))
    const input = { workflowId, runId, isCatalogRedacted }
    await Promise.all(subscribed.map(({ name }) => engine.startDelivery(name, input, until)))
  }

  const scanner = createScanner({
    ...options,
    activity: { id: `$webhooks:${catalog}`, type: 'portico.scan-for-webhooks' },
    engine: archiverEngine,
    handle,
    messages: MESSAGES,
    onlyNew: true,
  })

  function warnUnlessStopping(message: string, fields: Record<string, unknown>): void {
    if (!signal.aborted) warn(message, { catalog, ...fields })
  }

  try {
    if (!(await archiverEngine.hasStandaloneActivities(signal))) {
      warnUnlessStopping('Webhooks are not sent: this Temporal server has no standalone activities (1.32 has them)', {})
      return
    }
    await Promise.all([
      scanner.runWorker(signal).catch((error) => warnUnlessStopping(NOT_SCANNING, { error })),
      ...endpoints.map((endpoint) =>
        runDeliveries(endpoint, { ...options, engine }, signal).catch((error) =>
          warnUnlessStopping(NOT_DELIVERING, { endpoint: endpoint.name, error }),
        ),
      ),
    ])
  } catch (error) {
    warnUnlessStopping(NOT_SCANNING, { error })
  }
}

export interface RunningWebhooks {
  /** Leaves all messages to other workers, or to the next one. Takes at most two seconds. */
  stop(): Promise<void>
}

// Bounds how long a shutdown can be delayed.
const STOP_TIMEOUT_MS = 2000

/** Reports the ends of the runs of the worker's task queue, with the worker's codecs and its own `redact`. */
export function startWebhooks(
  worker: Worker,
  { endpoints, redact, pollMs, logger }: StartOptions,
): RunningWebhooks | null {
  const { connection } = worker
  if (endpoints.length === 0) return null
  if (!connection) throw new Error('The worker needs a connection to send webhooks')
  const { namespace, taskQueue: catalog, identity, loadedDataConverter } = worker.options
  const { warn, flush } = createWarnings(logger)
  const codec = toCodec(loadedDataConverter.payloadCodecs)
  const ports =
    redact === undefined
      ? { payloads: createPayloadReader(codec), redact: unchanged, redactedBy: null }
      : {
          payloads: createTraceReader(codec, { redacted: true }),
          redact: safeRedact(redact, warn),
          redactedBy: catalog,
        }
  const stopping = new AbortController()
  const ended = runWebhookWorker(
    { connection, namespace, catalog, identity, endpoints, ports, warn, pollMs },
    stopping.signal,
  )
  return {
    async stop() {
      stopping.abort()
      await withDeadline(ended, Date.now() + STOP_TIMEOUT_MS, new AbortController().signal).catch(() =>
        warn('The worker stopped before its webhooks did', { catalog }),
      )
      flush()
    },
  }
}

interface StartOptions {
  endpoints: readonly WebhookEndpoint[]
  redact: Redact | undefined
  pollMs: number | undefined
  logger: Logger
}

const unchanged: Redact = (_path, value) => value

async function runDeliveries(
  endpoint: WebhookEndpoint,
  { connection, namespace, catalog, identity, ports, engine }: WebhookWorkerOptions & Pick<DeliveryPorts, 'engine'>,
  signal: AbortSignal,
): Promise<void> {
  async function activity(input: DeliveryInput): Promise<unknown> {
    // An optional peer dependency that workers without webhooks need not install.
    const { ApplicationFailure, Context } = await import('@temporalio/activity')
    const { cancellationSignal } = Context.current()
    try {
      const attempt = await deliver(endpoint, input, { ...ports, engine, namespace, catalog }, cancellationSignal)
      if ('skipped' in attempt || attempt.accepted) return attempt
      throw ApplicationFailure.create({ message: attempt.reason, type: 'WebhookError', nonRetryable: attempt.gone })
    } catch (error) {
      if (error instanceof RunDeletedError) throw ApplicationFailure.nonRetryable(error.message, error.name)
      if (!cancellationSignal.aborted) throw error
      // Instead of the retry interval: another worker sends the message at once.
      throw ApplicationFailure.create({ message: 'This worker is shutting down', nextRetryDelay: '100ms' })
    }
  }

  const worker = await Worker.create({
    connection,
    namespace,
    identity,
    taskQueue: deliveryQueue(endpoint.name, catalog),
    activities: { [DELIVERY_TYPE]: activity },
    maxConcurrentActivityTaskExecutions: MAX_DELIVERIES,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    shutdownGraceTime: SHUTDOWN_GRACE_TIME,
    shutdownForceTime: SHUTDOWN_FORCE_TIME,
  })
  await runUntil(worker, signal)
}

const NOT_SCANNING = 'This process does not scan for webhooks'
const NOT_DELIVERING = 'This process does not send the webhooks of an endpoint'

const MESSAGES = {
  failed: 'A webhook could not be started; will retry',
  interrupted: 'The scan for webhooks was interrupted; will retry',
  notStarted: 'The scan for webhooks could not be started; will retry',
}
