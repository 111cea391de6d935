import type { Logger, NativeConnection, Worker } from '@temporalio/worker'
import type { WebhookEndpoint } from '../../../shared/config/webhooks.ts'
import { withDeadline } from '../../../shared/lib/abort.ts'
import { createPayloadReader } from '../../../shared/temporal/payload.ts'
import { createTraceReader, toCodec } from '../../tracing/codec.ts'
import { createWarnings, type Warn } from '../../tracing/rate-limited-warnings.ts'
import { type Redact, safeRedact, unredacted } from '../../tracing/redact.ts'
import { type ClosedRunsEngine, createClosedRunsEngine } from '../engine.ts'
import { createScanner, type ScannerOptions } from '../scanner.ts'
import { handOver, loadActivitySdk, runActivities } from '../standalone-worker.ts'
import {
  DELIVERY_TYPE,
  type DeliveryAttempt,
  type DeliveryInput,
  type DeliveryPorts,
  deliver,
  deliveryActivity,
  deliveryQueue,
  RunDeletedError,
  retryIntervalMs,
} from './deliver.ts'
import { createProblemScan, deliverProblem, PROBLEM_ACTIVITY, type ProblemInput } from './problems.ts'
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

// An attempt may still be answered; then it is left to another worker.
const SHUTDOWN_GRACE_TIME = '1s'

/**
 * Reports the ends and the problems of the runs of the task queue to the endpoints until `signal` aborts.
 *
 * A scan of closed runs starts a standalone activity for each message. The engine keeps it, retries it and rejects a
 * second one for the same run and endpoint.
 *
 * Never rejects; errors are logged.
 */
export async function runWebhookWorker(options: WebhookWorkerOptions, signal: AbortSignal): Promise<void> {
  const { catalog, endpoints, warn } = options
  if (endpoints.length === 0) return
  const engine = createClosedRunsEngine(options)

  const handle: ScannerOptions['handle'] = async (run, { isStored, isCatalogRedacted }, until) => {
    if (isStored) return
    const { workflowId, runId, listed } = run
    const subscribed = endpoints.filter((endpoint) => listed === undefined || subscribesTo(endpoint, listed))
    const input = { workflowId, runId, isCatalogRedacted }
    const delivery = (endpoint: string) => deliveryActivity(DELIVERY_TYPE, { endpoint, catalog, subject: runId }, input)
    await Promise.all(subscribed.map(({ name }) => engine.startActivity(delivery(name), until)))
  }

  function warnUnlessStopping(message: string, fields: Record<string, unknown>): void {
    if (!signal.aborted) warn(message, { catalog, ...fields })
  }

  try {
    if (!(await engine.hasStandaloneActivities(signal))) {
      warnUnlessStopping('Webhooks are not sent: this Temporal server has no standalone activities (1.32 has them)', {})
      return
    }
    const tellsProblems = endpoints.some(({ on }) => on.includes('problem'))
    const hasProblems = tellsProblems && (await engine.hasReportedProblems(signal))
    if (tellsProblems && !hasProblems) warnUnlessStopping(NO_PROBLEMS, {})
    const scanner = createScanner({
      ...options,
      activity: { id: `$webhooks:${catalog}`, type: 'portico.scan-for-webhooks' },
      engine,
      handle,
      alsoPoll: hasProblems ? createProblemScan({ engine, endpoints, catalog }) : undefined,
      messages: MESSAGES,
      onlyNew: true,
    })
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
      ? { payloads: createPayloadReader(codec), redact: unredacted, redactedBy: null }
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

async function runDeliveries(
  endpoint: WebhookEndpoint,
  { connection, namespace, catalog, identity, ports, engine }: WebhookWorkerOptions & { engine: ClosedRunsEngine },
  signal: AbortSignal,
): Promise<void> {
  const all = { ...ports, engine, namespace, catalog }

  async function attempted(send: (signal: AbortSignal) => Promise<DeliveryAttempt>): Promise<unknown> {
    const { ApplicationFailure, Context } = await loadActivitySdk()
    const { cancellationSignal, info } = Context.current()
    try {
      const attempt = await send(cancellationSignal)
      if ('skipped' in attempt || attempt.accepted) return attempt
      const { reason: message, gone: nonRetryable, retryAfterMs } = attempt
      // Never sooner than without the header.
      const delay = retryAfterMs > retryIntervalMs(info.attempt) && { nextRetryDelay: retryAfterMs }
      throw ApplicationFailure.create({ message, type: 'WebhookError', nonRetryable, ...delay })
    } catch (error) {
      if (error instanceof RunDeletedError) throw ApplicationFailure.nonRetryable(error.message, error.name)
      if (!cancellationSignal.aborted) throw error
      throw await handOver()
    }
  }

  await runActivities(
    {
      connection,
      namespace,
      identity,
      taskQueue: deliveryQueue(endpoint.name, catalog),
      activities: {
        [DELIVERY_TYPE]: (input: DeliveryInput) => attempted((until) => deliver(endpoint, input, all, until)),
        [PROBLEM_ACTIVITY]: (input: ProblemInput) => attempted((until) => deliverProblem(endpoint, input, all, until)),
      },
      maxConcurrentActivityTaskExecutions: MAX_DELIVERIES,
      shutdownGraceTime: SHUTDOWN_GRACE_TIME,
    },
    signal,
  )
}

const NOT_SCANNING = 'This process does not scan for webhooks'
const NO_PROBLEMS = 'workflow.problem is not sent: this Temporal server does not list runs with problems (1.32 does)'
const NOT_DELIVERING = 'This process does not send the webhooks of an endpoint'

const MESSAGES = {
  failed: 'A webhook could not be started; will retry',
  interrupted: 'The scan for webhooks was interrupted; will retry',
  notStarted: 'The scan for webhooks could not be started; will retry',
}
