import { type Log, withoutStack } from '../log.ts'
import {
  basePath as basePathVariable,
  type Config,
  type Policy,
  type PolicyDocument,
  withPolicy,
} from '../shared/config.ts'
import { createHooks } from '../shared/hooks/hooks.ts'
import { sharesPromises } from '../shared/lib/single-flight.ts'
import { createKvStore } from '../shared/stores/kv/kv-store.ts'
import { createObjectReader } from '../shared/stores/s3/object-reader.ts'
import { VERSION } from '../version.ts'
import type { AppOptions } from './app-options.ts'
import type { EncodedOutput } from './engine/context.ts'
import type { Transport } from './engine/transport/transport.ts'
import { type AccessTokens, createAccessTokens } from './http/credentials/access-tokens.ts'
import { type Callers, createCallers } from './http/credentials/callers.ts'
import type { ReadPageFile } from './http/page-files.ts'
import type { Mount } from './http/path.ts'
import { createByteBudget } from './http/pipeline/byte-budget.ts'
import { createCallerLimiter } from './http/pipeline/limit-callers.ts'
import { createInFlightLimit, type LoadShedder } from './http/pipeline/places.ts'
import { createOpenRequests } from './http/pipeline/serve.ts'
import { createLinks } from './links/links.ts'
import { createMetricsApp } from './metrics-app.ts'
import type { TraceSource } from './model/trace-source.ts'
import { createNamespace, type SharedParts } from './namespace.ts'
import { createApp, createDispatcher } from './stack.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { hostTracer } from './telemetry/observers.ts'

export interface Parts {
  config: Config
  /** Carries the calls to the engine. `close` closes it. */
  transport: Transport
  log: Log
  /**
   * Further trace sources. They are read in this order, after the stores of the configuration and before the engine's
   * history. An array is for `ENGINE_NAMESPACE` only, because a source is not told the namespace of a run.
   */
  traceSources?: TraceSource[] | ((namespace: string) => TraceSource[])
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
  readDocsFile?: ReadPageFile
  /** Reads the files of the console. Without it, its pages are a 501. */
  readConsoleFile?: ReadPageFile
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
  /** Ends every waiting request with an error that has its ids. A server calls it shortly before it exits. */
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
  const { transport, log, runtime = 'embedded' } = parts
  const config = configOf(parts)
  const pages = pagesOf(parts)
  const { engine, access, limits, traces } = config
  const accessTokens = accessTokensOf(config)
  const callers = callersOf(config, accessTokens, parts)
  const hooks = createHooks(access.policy?.hooks ?? {}, access.hookSecrets, config.signing.publicUrl)
  const defaults = { catalog: config.catalog, namespace: engine.namespace }
  const links = createLinks({
    ...config.signing,
    namespaces: engine.namespaces,
    defaults,
    findRule: (name) => callers?.findRule(name),
  })
  const metrics = config.metrics?.supported
    ? createMetrics({ version: VERSION, runtime, transport: transport.name }, callers?.keyAges)
    : null
  const tracer = hostTracer()
  const kv = traces.remote?.kvstore ? createKvStore(traces.remote.kvstore) : null
  const shared: SharedParts = {
    config,
    transport,
    deployment: {
      version: VERSION,
      runtime,
      transport: transport.name,
      uiUrl: engine.uiUrl,
      features: {
        ...transport.features,
        codec: engine.codecEndpoint !== null,
        docs: Boolean(pages.readDocsFile),
        console: Boolean(pages.readConsoleFile),
        mcp: config.mcp !== null,
        tokens: accessTokens !== null,
        links: canLink(config),
        ...traceFeatures(config),
      },
    },
    metrics,
    tracer,
    links,
    objects: traces.storage === null ? null : createObjectReader(traces.storage),
    kv,
    traceSourcesOf: traceSourcesOf(parts),
    onEncodedOutput: warnOnce(log),
  }
  const namespaceOf = createOnce((name) => createNamespace(name, shared))
  const mount = mountOf(parts)
  const limit = createInFlightLimit(limits.maxInFlight, metrics)
  const openRequests = createOpenRequests()
  const observers = { log, metrics, tracer }
  const appOptions: Omit<AppOptions, 'namespace' | 'workflows'> = {
    defaultNamespace: engine.namespace,
    defaultCatalog: config.catalog,
    callers,
    hooks,
    accessTokens,
    callerLimiter: createCallerLimiter({ countsOpenRequests: sharesPromises(), metrics }),
    audit: access.audit,
    maxBodyBytes: limits.maxBodyBytes,
    bulkConcurrency: limits.bulkConcurrency,
    unproven: createByteBudget(limits.maxUnprovenBytes),
    limit,
    maxTimeoutMs: limits.maxRunTimeoutMs,
    ...(parts.commentEveryMs !== undefined && { commentEveryMs: parts.commentEveryMs }),
    forwardHeaders: config.forwardHeaders,
    corsOrigins: access.corsOrigins,
    loopbackOnly: access.loopbackOnly,
    mount,
    observers,
    ...(config.metrics?.port === null && { readMetrics: metrics?.text ?? null }),
    ...pages,
    ...(config.mcp && { mcp: { ...config.mcp, ttlMs: config.catalogTtlMs } }),
    openRequests,
    async openLink(token) {
      const link = await links.open(token)
      return { link, workflows: namespaceOf(link.namespace).workflows }
    },
  }
  const defaultNamespace = namespaceOf(engine.namespace)
  const appOf = createOnce((namespace) => {
    const workflows = engine.namespaces.includes(namespace) ? namespaceOf(namespace).workflows : null
    return createApp({ ...appOptions, namespace, workflows, isNamespaced: true })
  })
  const { fetch, loadShedder } = createDispatcher({
    mount,
    limit,
    observers,
    corsOrigins: access.corsOrigins,
    defaultApp: createApp({ ...appOptions, namespace: engine.namespace, workflows: defaultNamespace.workflows }),
    // All unknown names share one app.
    appOf: (name) => appOf(name !== null && engine.namespaces.includes(name) ? name : ''),
  })
  const metricsApp =
    metrics !== null && config.metrics?.port !== null
      ? createMetricsApp({ read: metrics.text, loopbackOnly: access.loopbackOnly, log })
      : null
  for (const warning of warningsOf(config, runtime)) log('warn', warning)
  return {
    fetch,
    loadShedder,
    fetchMetrics: metricsApp === null ? null : metricsApp.fetch,
    openRequests: () => openRequests.count() + loadShedder.waiting(),
    drain() {
      loadShedder.close()
      openRequests.abortAll()
    },
    setPolicy(policy) {
      if (access.policy === null || callers === null) throw new TypeError('The service was created without a policy')
      callers.setPolicy(policy)
      hooks.replace(policy.hooks)
      void callers.warm()
    },
    policyReloadFailed: () => metrics?.policyReloadFailed(),
    async warm() {
      const keysFetched = callers?.warm()
      // Reading the catalog checks the connection, the API key and the namespace, and caches it for the first request.
      await defaultNamespace.catalogs.published(config.catalog)
      await keysFetched
    },
    async close() {
      await Promise.all([transport.close(), kv?.close()])
    },
  }
}

/** A namespace that no request names takes no memory. */
function createOnce<T>(create: (name: string) => T): (name: string) => T {
  const created = new Map<string, T>()
  return (name) => {
    const one = created.get(name) ?? create(name)
    created.set(name, one)
    return one
  }
}

/** An array has the sources of the namespace of paths without one. */
function traceSourcesOf({ config, traceSources = [] }: Parts): SharedParts['traceSourcesOf'] {
  if (typeof traceSources === 'function') return traceSources
  return (namespace) => (namespace === config.engine.namespace ? traceSources : [])
}

function configOf({ config, policy }: Parts): Config {
  return policy === undefined ? config : withPolicy(config, policy)
}

/** Null without a key, and where no credential is required. */
function accessTokensOf({ access, signing }: Config): AccessTokens | null {
  const isOpen = access.tokens === null && access.policy === null
  return signing.keys === null || isOpen ? null : createAccessTokens(signing.keys, signing.deployment)
}

/** Null where no credential is required. */
function callersOf({ access }: Config, accessTokens: AccessTokens | null, { log }: Parts): Callers | null {
  if (access.tokens === null && access.policy === null) return null
  return createCallers({
    operatorTokens: access.tokens ?? [],
    policy: access.policy,
    accessTokens,
    onKeysUnavailable: (issuer, cause) =>
      log('warn', 'cannot fetch the keys of an issuer; JWTs are checked with the last keys for 24 hours', {
        issuer,
        cause: cause instanceof Error ? withoutStack(cause) : cause,
      }),
  })
}

/** Only frameworks may strip the path at which they mount the service; our own servers pass the whole path. */
function mountOf({ config, basePath }: Parts): Mount {
  const { publicUrl } = config.signing
  if (basePath === undefined) return { basePath: config.basePath, publicUrl }
  const { success, data, error } = basePathVariable.safeParse(basePath)
  if (!success) throw new TypeError(`basePath ${error.issues[0]?.message}`)
  return { basePath: data, mayBeStripped: true, publicUrl }
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

/** What reads the files of the pages that are on; null where they are missing. */
function pagesOf({ config, ...parts }: Parts): Pick<AppOptions, 'readConsoleFile' | 'readDocsFile'> {
  return {
    ...(config.docs && { readDocsFile: parts.readDocsFile ?? null }),
    ...(config.console && { readConsoleFile: parts.readConsoleFile ?? null }),
  }
}

function canLink({ signing: { keys, publicUrl } }: Config): boolean {
  return keys !== null && publicUrl !== null
}

function traceFeatures({ traces: { storage, remote, local } }: Config) {
  return { traceRemote: storage !== null, traceKvstore: Boolean(remote?.kvstore), traceLocal: local !== null }
}

function warningsOf({ warnings, server }: Config, runtime: string): readonly string[] {
  if (server.idleTimeoutMs === null || runtime === 'node') return warnings
  return [...warnings, `SERVICE_IDLE_TIMEOUT has an effect only on Node, not here (${runtime})`]
}
