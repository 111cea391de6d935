import { once } from 'node:events'
import { Runtime } from '@temporalio/worker'
import { parseWorkerConfig } from '../config/worker.ts'
import { hostArchiver } from './archive/archiver-worker.ts'
import { traceTargets } from './archive/destinations.ts'
import { connect } from './connect.ts'
import { traceValues } from './tracing/codec.ts'
import { createWarnings } from './tracing/rate-limited-warnings.ts'
import { spanLists } from './tracing/span-lists.ts'

/**
 * Archives the closed runs of task queues until SIGINT or SIGTERM: `npx portico archive`, for
 * deployments without a TypeScript worker.
 *
 * Reads the environment as a worker does (`docs/configuration.md`); without `queues` the queue is `SERVICE_CATALOG_ID`. Payloads
 * that a worker's codec has encoded are archived as they are. Rejects when the environment is wrong, when it names no place
 * for traces, or when the engine cannot be reached.
 */
export async function runArchiver(queues: readonly string[] = []): Promise<void> {
  const { engine, catalog, traces } = parseWorkerConfig(process.env, { catalogRequired: queues.length === 0 })
  const targets = traceTargets(traces)
  if (targets.length === 0) {
    throw new Error(
      'Nothing to archive to: set SERVICE_TRACE_REMOTE_ON=true or SERVICE_TRACE_LOCAL_ON=true (docs/configuration.md)',
    )
  }
  const { logger } = Runtime.instance()
  const { warn, flush } = createWarnings(logger)
  const lists = spanLists(traces)
  const connection = await connect(engine)
  const ending = new AbortController()
  const told = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => ending.abort())
  const catalogs = queues.length > 0 ? queues : [catalog ?? '']
  const ports = {
    spans: lists,
    targets,
    payloads: traceValues(null, { redacted: false }),
    encode: null,
    redact: (_path: string, value: unknown) => value,
    maxBytes: traces.maxBytes,
    warn,
  }
  const { namespace } = engine
  logger.info('Archiving traces', { catalogs, namespace })
  await Promise.all(
    catalogs.map((name) =>
      hostArchiver({ connection, namespace, catalog: name, identity: 'portico archive', ports, warn }, ending.signal),
    ),
  )
  await told
  await lists?.close()
  await connection.close()
  flush()
}
