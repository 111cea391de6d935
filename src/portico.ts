import { basePath as basePathVariable, type Config } from './config.ts'
import { createCatalogs } from './domain/catalog/catalogs.ts'
import { createWorkflows } from './domain/create-workflows.ts'
import type { TraceSource } from './domain/trace/trace-source.ts'
import { remoteCodec } from './engine/codec.ts'
import { lazyEngine } from './engine/lazy-engine.ts'
import type { EncodedOutput } from './engine/payloads.ts'
import type { Transport } from './engine/transport/transport.ts'
import { createApp } from './http/app.ts'
import { createOpenRequests } from './http/open-requests.ts'
import type { Mount } from './http/path.ts'
import type { Log } from './log.ts'
import { createKvStore } from './store/kv/kv-store.ts'
import { createObjectReader } from './store/s3/object-reader.ts'
import { tracesFromHistory } from './trace/from-history.ts'
import { tracesFromKv } from './trace/from-kv.ts'
import { tracesFromObjects } from './trace/from-objects.ts'
import { VERSION } from './version.ts'

export interface Parts {
  config: Config
  /** What carries the calls to the engine; closed by `close`. */
  transport: Transport
  log: Log
  /** Asked after the stores that the configuration names and before the engine's history, in this order. */
  traceSources?: TraceSource[]
  /**
   * The path at which a server of your own mounts `fetch`, like `/portico`; default: `SERVICE_BASE_PATH`. Requests may come with it,
   * or without it from a framework that takes it off.
   */
  basePath?: string
  /** Told by `GET /capabilities`; default: `embedded`. */
  runtime?: string
  /** False where one request's I/O dies with it, so that no other may wait for it (workerd). */
  sharesPending?: boolean
  /** How often an event stream that waits gets a comment; default: 10 s. Less where only a write tells that a client has left (workerd). */
  commentEveryMs?: number
}

export interface Portico {
  /** The whole service as a function. */
  fetch(request: Request): Promise<Response>
  /** Answers every wait as timed out: what a server does shortly before it has to be gone. */
  drain(): void
  /** Loads the engine client and connects; rejects with the `ServiceError` that tells what is wrong. */
  warm(): Promise<void>
  close(): Promise<void>
}

/** Joins all parts. It connects to nothing and reads no environment: that is the runtime's. */
export function createPortico(parts: Parts): Portico {
  const { config, transport, log, traceSources = [], runtime = 'embedded', sharesPending = true } = parts
  const { engine: engineConfig, access, limits } = config
  const { namespace, codecEndpoint } = engineConfig
  const engine = lazyEngine({
    transport,
    namespace,
    maxPayloadBytes: limits.maxPayloadBytes,
    codec: codecEndpoint === null ? null : remoteCodec({ endpoint: codecEndpoint, namespace }),
    onEncodedOutput: warnOnce(log),
  })
  const catalogs = createCatalogs({ engine, namespace, ttlMs: config.catalogTtlMs, sharesPending })
  const history = tracesFromHistory({ engine, maxBytes: config.traces.maxBytes })
  const stored = storedTraces(config)
  const workflows = createWorkflows({
    engine,
    catalogs,
    traceSources: [...stored.sources, ...traceSources, history],
    traceMaxBytes: config.traces.maxBytes,
    deployment: {
      version: VERSION,
      runtime,
      transport: transport.name,
      features: { ...transport.features, codec: codecEndpoint !== null, ...tracePlaces(config) },
    },
    messageTimeoutMs: config.messageTimeoutMs,
    sharesPending,
  })
  const openRequests = createOpenRequests()
  const app = createApp({
    workflows,
    defaultCatalog: config.catalog,
    auth: access.tokens === null ? null : { tokens: access.tokens },
    maxBodyBytes: limits.maxBodyBytes,
    maxTimeoutMs: limits.maxRunTimeoutMs,
    ...(parts.commentEveryMs !== undefined && { commentEveryMs: parts.commentEveryMs }),
    corsOrigins: access.corsOrigins,
    loopbackOnly: access.loopbackOnly,
    mount: mountOf(parts),
    log,
    openRequests,
  })
  for (const warning of config.warnings) log('warn', warning)
  return {
    fetch: app.fetch,
    drain: () => openRequests.abortAll(),
    async warm() {
      // It needs connection, key and namespace, and the first request needs it.
      await catalogs.published(config.catalog)
    },
    async close() {
      await Promise.all([transport.close(), stored.close()])
    },
  }
}

/** Only who mounts it in a framework says where in code; a server of our own gets every request with its whole path. */
function mountOf({ config, basePath }: Parts): Mount {
  if (basePath === undefined) return { basePath: config.basePath }
  const { success, data, error } = basePathVariable.safeParse(basePath)
  if (!success) throw new TypeError(`basePath ${error.issues[0]?.message}`)
  return { basePath: data, mayBeStripped: true }
}

/** One is enough: what a service without the workers' codec sends to them is plain text, each time. */
function warnOnce(log: Log): (output: EncodedOutput) => void {
  let isWarned = false
  return ({ encoding, workflowId }) => {
    if (isWarned) return
    isWarned = true
    const advice =
      'set ENGINE_CODEC_ENDPOINT to their codec server; until then inputs reach them, and the engine, as plain text'
    log('warn', `workers encode their payloads and there is no codec: ${advice}`, {
      encoding: encoding.slice(0, 100),
      workflowId,
    })
  }
}

function tracePlaces({ traces: { storage, remote, local } }: Config) {
  return { traceRemote: storage !== null, traceKvstore: Boolean(remote?.kvstore), traceLocal: local !== null }
}

/** The places where workers of other machines put traces: where they are for good first, then where their spans wait. */
function storedTraces({ engine: { namespace }, traces: { storage, remote, maxBytes } }: Config) {
  const kv = remote?.kvstore ? createKvStore(remote.kvstore) : null
  return {
    sources: [
      ...(storage === null
        ? []
        : [tracesFromObjects({ objects: createObjectReader(storage), rules: storage, namespace, maxBytes })]),
      ...(kv === null ? [] : [tracesFromKv({ kv, namespace, maxBytes })]),
    ],
    close: async () => kv?.close(),
  }
}
