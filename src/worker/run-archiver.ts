import { once } from 'node:events'
import { Runtime } from '@temporalio/worker'
import { parseWorkerConfig } from '../shared/config/worker.ts'
import { createPayloadReader } from '../shared/temporal/payload.ts'
import { runArchiverWorker } from './closed-runs/archive/archiver-worker.ts'
import { traceDestinations } from './closed-runs/archive/destinations.ts'
import { readWebhooksFile } from './closed-runs/webhooks/subscriptions.ts'
import { runWebhookWorker } from './closed-runs/webhooks/webhook-worker.ts'
import { connectToEngine } from './connect.ts'
import { createTraceReader } from './tracing/codec.ts'
import { createWarnings } from './tracing/rate-limited-warnings.ts'
import { spanLists } from './tracing/span-lists.ts'

/**
 * Archives the closed runs of the task queues, and sends their webhooks, until SIGINT or SIGTERM. This is
 * `npx portico archive`, for deployments without a TypeScript worker.
 *
 * Reads the same environment variables as `runWorker` (`docs/configuration.md`). Without `queues` it archives the
 * task queue in `SERVICE_CATALOG_ID`. Payloads that a worker's codec encoded are archived and sent as they are. Rejects
 * if the environment is invalid, if it enables neither a destination for traces nor webhooks, or if the engine cannot
 * be reached.
 */
export async function runArchiver(queues: readonly string[] = []): Promise<void> {
  const { engine, catalog, traces, webhooks } = parseWorkerConfig(process.env, {
    catalogRequired: queues.length === 0,
    readFile: readWebhooksFile,
  })
  const destinations = traceDestinations(traces)
  if (destinations.length === 0 && webhooks.length === 0) {
    throw new Error(
      'Nothing to do: for traces set SERVICE_TRACE_REMOTE_ON=true or SERVICE_TRACE_LOCAL_ON=true, for webhooks SERVICE_WEBHOOKS (docs/configuration.md)',
    )
  }
  const { logger } = Runtime.instance()
  const { warn, flush } = createWarnings(logger)
  const lists = spanLists(traces)
  const { connection, close } = await connectToEngine(engine, (message) => logger.warn(message))
  const stopping = new AbortController()
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => stopping.abort())
  const catalogs = queues.length > 0 ? queues : [catalog ?? '']
  const ports = {
    spans: lists,
    destinations,
    payloads: createTraceReader(null, { redacted: false }),
    encode: null,
    redact: (_path: string, value: unknown) => value,
    redactedBy: null,
    maxBytes: traces.maxBytes,
    warn,
  }
  const { namespace } = engine
  const webhookPorts = { ...ports, payloads: createPayloadReader(null) }
  logger.info(destinations.length > 0 ? 'Archiving traces' : 'Sending webhooks', { catalogs, namespace })
  await Promise.all(
    catalogs.flatMap((catalog) => {
      const shared = { connection, namespace, catalog, identity: 'portico archive', warn }
      return [
        ...(destinations.length === 0 ? [] : [runArchiverWorker({ ...shared, ports }, stopping.signal)]),
        runWebhookWorker({ ...shared, endpoints: webhooks, ports: webhookPorts }, stopping.signal),
      ]
    }),
  )
  await stopped
  await lists?.close()
  await close()
  flush()
}
