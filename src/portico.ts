import { basePath as basePathVariable, type Config, type Policy, type PolicyDocument, withPolicy } from './config.ts'
import { createCatalogs } from './domain/catalog/catalogs.ts'
import { createWorkflows } from './domain/create-workflows.ts'
import type { TraceSource } from './domain/model/trace-source.ts'
import { remoteCodec } from './engine/codec.ts'
import { lazyEngine } from './engine/lazy-engine.ts'
import type { EncodedOutput } from './engine/payloads.ts'
import type { Transport } from './engine/transport/transport.ts'
import { createApp } from './http/app.ts'
import { type Callers, createCallers } from './http/credentials/callers.ts'
import type { ReadDocsFile } from './http/endpoints/docs.ts'
import { createCallerLimiter } from './http/limit-callers.ts'
import { createMetricsApp } from './http/metrics-app.ts'
import { createOpenRequests } from './http/open-requests.ts'
import type { Mount } from './http/path.ts'
import type { LoadShedder } from './http/shed-load.ts'
import { type Log, withoutStack } from './log.ts'
import { createKvStore } from './store/kv/kv-store.ts'
import { createObjectReader } from './store/s3/object-reader.ts'
import { hostTracer } from './telemetry/host-tracer.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { measuredTransport, measuredWaits, tracedTransport } from './telemetry/observed-engine.ts'
import { tracesFromHistory } from './trace/from-history.ts'
import { tracesFromKv } from './trace/from-kv.ts'
import { tracesFromObjects } from './trace/from-objects.ts'
import { VERSION } from './version.ts'

export interface Parts {
  config: Config
  /** Carries the calls to the engine. `close` closes it. */
  transport: Transport
  log: Log
  /**
   * Further trace sources. They are read in this order, after the stores of the configuration and before the engine's
   * history.
   */
  traceSources?: TraceSource[]
  /**
   * The path at which your own server mounts `fetch`, like `/portico`. Default: `SERVICE_BASE_PATH`.
   * Frameworks may strip it from the requests, or not.
   */
  basePath?: string
  /** Reported by `GET /capabilities`. Default: `embedded`. */
  runtime?: string
  /** Who may do what, instead of the policy of the configuration. Mistakes throw a `ConfigError`. */
  policy?: PolicyDocument
  /** Reads the files of `GET /docs`. Without it, the page is a 501. */
  readDocsFile?: ReadDocsFile
  /** False on workerd, where a request cannot await the I/O of another request. */
  sharesPending?: boolean
  /**
   * How often a waiting event stream gets a comment. Default: 10 s. On workerd less, because it detects disconnects
   * only by writing.
   */
  commentEveryMs?: number
}

export interface Portico {
  /** The whole service as a function. */
  fetch(request: Request): Promise<Response>
  /** Holds and rejects requests as `fetch` does, for a server that can do so before it has created a `Request`. */
  loadShedder: LoadShedder
  /**
   * Serves `/metrics` without a token, for a port of its own.
   * Null unless `SERVICE_METRICS_PORT` is set, and metrics are on.
   */
  fetchMetrics: ((request: Request) => Promise<Response>) | null
  /**
   * How many requests to `/capabilities`, `/openapi.json` and below `/workflow` have no complete response yet. For
   * servers that do not count them themselves.
   */
  openRequests(): number
  /** Ends every waiting request with a 408. A server calls it shortly before it exits. */
  drain(): void
  /** Replaces the policy, for all requests that come later. Throws if the service was created without one. */
  setPolicy(policy: Policy): void
  /** Counts a new version of the policy's file that is not valid. */
  policyReloadFailed(): void
  /**
   * Loads the engine's client and connects, and fetches the keys of the policy's issuers. Rejects with a `ServiceError`
   * when the engine cannot be used.
   */
  warm(): Promise<void>
  close(): Promise<void>
}

/** Wires the parts together. Does not connect to anything, and does not read the environment. */
export function createPortico(parts: Parts): Portico {
  const { transport, log, traceSources = [], runtime = 'embedded', sharesPending = true } = parts
  const config = configOf(parts)
  const readDocsFile = parts.readDocsFile ?? null
  const { engine: engineConfig, access, limits } = config
  const { namespace, codecEndpoint } = engineConfig
  const callers = callersOf(config, parts)
  const metrics = config.metrics?.supported
    ? createMetrics({ version: VERSION, runtime, transport: transport.name }, callers?.keyAges)
    : null
  const tracer = hostTracer()
  const engine = measuredWaits(
    lazyEngine({
      transport: measuredTransport(tracedTransport(transport, tracer), metrics),
      namespace,
      maxPayloadBytes: limits.maxPayloadBytes,
      codec: codecEndpoint === null ? null : remoteCodec({ endpoint: codecEndpoint, namespace }),
      onEncodedOutput: warnOnce(log),
      ...(sharesPending && { maxPolls: limits.maxPolls }),
    }),
    metrics,
  )
  const onCacheRead = metrics?.cacheRead
  const catalogs = createCatalogs({ engine, namespace, ttlMs: config.catalogTtlMs, sharesPending, onCacheRead })
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
      uiUrl: config.engine.uiUrl,
      features: {
        ...transport.features,
        codec: codecEndpoint !== null,
        docs: config.docs && readDocsFile !== null,
        ...traceFeatures(config),
      },
    },
    defaults: { catalog: config.catalog, namespace },
    messageTimeoutMs: config.messageTimeoutMs,
    resultCacheBytes: config.resultCacheBytes,
    checksOutputs: config.checkOutputs,
    sharesPending,
    onCacheRead,
  })
  const openRequests = createOpenRequests()
  const app = createApp({
    workflows,
    namespace,
    defaultCatalog: config.catalog,
    callers,
    callerLimiter: createCallerLimiter({ countsOpenRequests: sharesPending, metrics }),
    audit: access.audit,
    maxBodyBytes: limits.maxBodyBytes,
    maxInFlight: limits.maxInFlight,
    maxTimeoutMs: limits.maxRunTimeoutMs,
    ...(parts.commentEveryMs !== undefined && { commentEveryMs: parts.commentEveryMs }),
    forwardHeaders: config.forwardHeaders,
    corsOrigins: access.corsOrigins,
    loopbackOnly: access.loopbackOnly,
    mount: mountOf(parts),
    sharesPending,
    observers: { log, metrics, tracer },
    ...(config.metrics?.port === null && { readMetrics: metrics?.text ?? null }),
    ...(config.docs && { readDocsFile }),
    openRequests,
  })
  const metricsApp =
    metrics !== null && config.metrics?.port !== null
      ? createMetricsApp({ read: metrics.text, loopbackOnly: access.loopbackOnly, log })
      : null
  for (const warning of config.warnings) log('warn', warning)
  return {
    fetch: app.fetch,
    loadShedder: app.loadShedder,
    fetchMetrics: metricsApp === null ? null : metricsApp.fetch,
    openRequests: () => openRequests.count() + app.loadShedder.waiting(),
    drain() {
      app.loadShedder.close()
      openRequests.abortAll()
    },
    setPolicy(policy) {
      if (access.policy === null || callers === null) throw new TypeError('The service was created without a policy')
      callers.setPolicy(policy)
      void callers.warm()
    },
    policyReloadFailed: () => metrics?.policyReloadFailed(),
    async warm() {
      const keysFetched = callers?.warm()
      // Reading the catalog checks the connection, the API key and the namespace, and caches it for the first request.
      await catalogs.published(config.catalog)
      await keysFetched
    },
    async close() {
      await Promise.all([transport.close(), stored.close()])
    },
  }
}

function configOf({ config, policy }: Parts): Config {
  return policy === undefined ? config : withPolicy(config, policy)
}

/** Null where no credential is required. */
function callersOf({ access }: Config, { log, sharesPending }: Parts): Callers | null {
  if (access.tokens === null && access.policy === null) return null
  return createCallers({
    operatorTokens: access.tokens ?? [],
    policy: access.policy,
    sharesPending,
    onKeysUnavailable: (issuer, cause) =>
      log('warn', 'cannot fetch the keys of an issuer; JWTs are checked with the last keys for 24 hours', {
        issuer,
        cause: cause instanceof Error ? withoutStack(cause) : cause,
      }),
  })
}

/** Only frameworks may strip the path at which they mount the service; our own servers pass the whole path. */
function mountOf({ config, basePath }: Parts): Mount {
  if (basePath === undefined) return { basePath: config.basePath }
  const { success, data, error } = basePathVariable.safeParse(basePath)
  if (!success) throw new TypeError(`basePath ${error.issues[0]?.message}`)
  return { basePath: data, mayBeStripped: true }
}

/** Warns once, because every payload would cause the same warning. */
function warnOnce(log: Log): (output: EncodedOutput) => void {
  let isWarned = false
  return ({ encoding, workflowId }) => {
    if (isWarned) return
    isWarned = true
    const advice =
      'set ENGINE_CODEC_ENDPOINT to their codec server; until then inputs are sent unencoded, through the engine'
    log('warn', `workers encode their payloads, but no codec is configured: ${advice}`, {
      encoding: encoding.slice(0, 100),
      workflowId,
    })
  }
}

function traceFeatures({ traces: { storage, remote, local } }: Config) {
  return { traceRemote: storage !== null, traceKvstore: Boolean(remote?.kvstore), traceLocal: local !== null }
}

/**
 * Sources of traces that workers on other machines store:
 * object storage, and the key-value store for the spans of open runs.
 */
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
