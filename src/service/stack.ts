/**
 * What a request passes, from top to bottom: its place in flight, the steps before its endpoint, the guard of its verb,
 * and what is around the engine and the connection to it. Nothing else adds a layer.
 */
import { Hono } from 'hono'
import type { Caller } from '../shared/access/caller.ts'
import { type Access, callerIn, type Defaults } from '../shared/access/grant.ts'
import { type CacheOptions, lazy } from '../shared/lib/cache.ts'
import { createLimiter } from '../shared/lib/limiter.ts'
import { sharesPromises } from '../shared/lib/single-flight.ts'
import { createCatalogFilter } from './access/catalog-filter.ts'
import { orRevoked } from './access/decide-again.ts'
import type { AnyVerb, VerbPorts } from './access/guard.ts'
import { type AppOptions, createService } from './app-options.ts'
import { ENDPOINTS } from './endpoints.ts'
import type { EngineOptions } from './engine/engine.ts'
import { answerCloudEvents } from './fronts/hooks/challenges.ts'
import {
  type Env,
  forwardHeaders,
  type Place,
  type RequestCheck,
  type RequestHead,
  type RequestStep,
  requestId,
} from './http/context.ts'
import { type Endpoint, handlerTools, matcherOf } from './http/endpoint.ts'
import {
  createRouter,
  decodablePath,
  locationBaseOf,
  type Mount,
  mountBelowNamespace,
  pathBelow,
  splitNamespace,
} from './http/path.ts'
import { hasCheckedParameters } from './http/path-parameters.ts'
import {
  authenticate,
  authorize,
  endWithCredential,
  requireKnownCaller,
  requireNamespace,
  takeUrlToken,
} from './http/pipeline/authorize.ts'
import { rejectContentLength } from './http/pipeline/body.ts'
import { allowOrigins, answerPreflights } from './http/pipeline/cors.ts'
import { createCallerLimiter, limitCallers } from './http/pipeline/limit-callers.ts'
import { audit } from './http/pipeline/observe.ts'
import { createLoadShedder, type LoadShedder, type LoadShedderOptions, limitInFlight } from './http/pipeline/places.ts'
import {
  checkIdempotencyKey,
  notReplayed,
  rejectCrossSite,
  rejectDotSegments,
  rejectIdempotencyKey,
  requireLoopbackHost,
} from './http/pipeline/request-checks.ts'
import { abortable, createOpenRequests, serve } from './http/pipeline/serve.ts'
import { notFound, unmatched } from './http/pipeline/unmatched.ts'
import { createLinks, type Links } from './links/links.ts'
import { type Call, shareCalls } from './model/call.ts'
import { TIMEOUT_MS } from './model/deadlines.ts'
import { decorated, type Engine } from './model/engine.ts'
import { withoutRepeat } from './model/errors.ts'
import { toKey } from './model/execution.ts'
import type { Ports } from './ports.ts'
import { keepClosedRuns, noteRuns } from './runs/closed-runs.ts'
import { checkOutput } from './runs/output-checks.ts'
import { createReadChain } from './runs/read-chain.ts'
import { createSearchAttributes } from './runs/search-attributes.ts'
import { checkOpenRun, createKnownRuns } from './start/known-runs.ts'
import { createCapabilities } from './status/capabilities.ts'
import { createEngineSupport } from './status/engine-support.ts'
import { createReadiness } from './status/readiness.ts'
import { type EngineObservers, measuredWaits, observedTransport } from './telemetry/observers.ts'
import { type BoundVerbs, VERBS, type Workflows } from './verbs.ts'

/** The HTTP application of a namespace. */
export interface App {
  /** Handles a request, with the place in flight that it has waited for. */
  handle(request: Request, place?: Place): Promise<Response>
  /** The checks that come before a request counts as in flight. */
  checks: readonly RequestCheck[]
  /** What is mounted, below the base path and the namespace. */
  routes: readonly { method: string; path: string }[]
}

export interface DispatcherOptions extends Pick<LoadShedderOptions, 'corsOrigins' | 'limit' | 'observers'> {
  mount: Mount
  /** The app of paths without a namespace. */
  defaultApp: App
  /** The app of the paths below `/namespaces/<name>`. `namespace` is null if the name cannot be decoded. */
  appOf(namespace: string | null): App
}

export interface Dispatcher {
  fetch(request: Request): Promise<Response>
  /** For a server that can hold and reject requests before it has created a `Request`. `fetch` uses it, too. */
  loadShedder: LoadShedder
}

// Each of the lines is a request of its own.
const readsLines = matcherOf(ENDPOINTS.filter(({ takes }) => takes === 'lines'))

/** Sends each request to the app of its namespace, behind one limit on requests in flight. */
export function createDispatcher({ mount, defaultApp, appOf, ...options }: DispatcherOptions): Dispatcher {
  const pathOf = pathBelow(mount)
  const isWork = matcherOf(ENDPOINTS.filter(({ takes }) => takes !== 'nothing'))
  const loadShedder = createLoadShedder({
    ...options,
    // They apply to all apps: a path has its namespace here, so only a path without a namespace can be public.
    checks: defaultApp.checks,
    pathOf,
    isWork(path) {
      const rest = splitNamespace(path)?.rest ?? path
      return isWork(rest) && !readsLines(rest)
    },
    handle(request, place) {
      const inNamespace = splitNamespace(pathOf(request))
      return (inNamespace === null ? defaultApp : appOf(inNamespace.name)).handle(request, place)
    },
  })
  return { loadShedder, fetch: (request) => loadShedder.handle(request) }
}

/** The app of a namespace: its endpoints, each behind its steps. `stepsOf` has them in their order. */
export function createApp(options: AppOptions): App {
  const { namespace, defaultNamespace = namespace, isNamespaced = false, workflows, callers, corsOrigins } = options
  const { mount = { basePath: '' }, observers, forwardHeaders: forwarded = [], audit: mode = 'off' } = options
  const { callerLimiter = createCallerLimiter(), openRequests = createOpenRequests() } = options
  const { basePath, pathOf } = isNamespaced
    ? mountBelowNamespace(mount, namespace)
    : { ...mount, pathOf: pathBelow(mount) }
  const isMounted = {
    metrics: options.readMetrics !== undefined,
    docs: options.readDocsFile !== undefined,
    console: options.readConsoleFile !== undefined,
    mcp: options.mcp !== undefined,
  }
  const endpoints = ENDPOINTS.filter(
    ({ feature, isOfService }) => (feature === undefined || isMounted[feature]) && !(isNamespaced && isOfService),
  )
  const exists = workflows !== null
  const isPublic = publicMatcher(isNamespaced ? [] : endpoints)

  const checks: RequestCheck[] = [
    ...only(options.loopbackOnly === true, requireLoopbackHost),
    rejectCrossSite(corsOrigins),
    rejectContentLength(options.maxBodyBytes, readsLines),
    rejectDotSegments,
  ]
  const everyRequest: RequestStep[] = [
    requestId(basePath, locationBaseOf(mount, basePath)),
    ...only(corsOrigins.length > 0, allowOrigins(corsOrigins)),
    ...checks,
  ]
  const authenticated = callers === null ? [] : [except(isPublic, authenticate(callers))]
  const limited = (takes: Endpoint['takes']) => only(callers !== null, limitCallers(callerLimiter, takes))
  const ofNamespace = (access?: Access) =>
    requireNamespace({ name: namespace, exists, defaultNamespace, isNamespaced }, access)
  const ofNamespaceOnly = (caller: Caller) => callerIn(caller, namespace, defaultNamespace)
  const keySteps = { taken: [checkIdempotencyKey], rejected: [rejectIdempotencyKey], ignored: [] }
  const work = [limitInFlight(options.limit), abortable(openRequests)]
  const workSteps = {
    nothing: [],
    work,
    wait: [...work, endWithCredential(callers, ofNamespaceOnly)],
    lines: [abortable(openRequests)],
  }

  function stepsOf(endpoint: Endpoint): RequestStep[] {
    // Below `/namespaces/<name>` nothing is public.
    const access = endpoint.access ?? (isNamespaced ? 'any' : null)
    return [
      ...everyRequest,
      takeUrlToken(endpoint),
      ...authenticated,
      // A public endpoint that is not a GET changes something, so the audit log records it, too.
      ...(access === null && endpoint.method === 'get' ? [] : accessSteps(access, endpoint.takes)),
      ...only(reportsReplays(endpoint), notReplayed),
      ...only(forwarded.length > 0 && /^\/(?:workflow|activity)\//.test(endpoint.path), forwardHeaders(forwarded)),
      ...only(hasCheckedParameters(endpoint.path), decodablePath),
      ...keySteps[endpoint.key],
      ...workSteps[endpoint.takes],
    ]
  }

  function accessSteps(access: Access | null, takes: Endpoint['takes']): RequestStep[] {
    const audited = audit({ mode, namespace: exists ? namespace : null, observers }, access)
    if (access === null) return [audited]
    return [
      audited,
      // Before the next two, so that requests that they reject count towards the limits of their caller, too.
      ...limited(takes),
      ...only(isNamespaced || access !== 'any', ofNamespace(access)),
      ...only(callers !== null, authorize(access)),
    ]
  }

  const withoutRoute = [
    ...everyRequest,
    takeUrlToken(null),
    ...authenticated,
    ...limited('nothing'),
    ...only(isNamespaced, ofNamespace()),
    // No route has this method. Browsers send preflights without a credential; those with one count.
    answerPreflights(corsOrigins),
    ...(options.hooks === undefined || isNamespaced ? [] : [answerCloudEvents(options.hooks)]),
  ]

  const app = new Hono<Env>({ getPath: pathOf, router: createRouter() })
  const observed = { ...observers, isPeriodic: matcherOf(ENDPOINTS.filter(({ isPeriodic }) => isPeriodic)) }
  const carryOut = async (request: Request) => app.fetch(request)
  const service = workflows && createService(options, workflows, { endpoints, basePath, carryOut })
  for (const endpoint of endpoints) {
    const { method, path } = endpoint
    const tools = service && handlerTools(endpoint, service)
    // `tools` is null if the namespace does not exist. Then `requireNamespace` rejects every request.
    app.on(method, path, serve(observed, stepsOf(endpoint), tools ? (c) => endpoint.handle(c, tools) : notFound))
  }
  app.notFound(serve(observed, withoutRoute, unmatched(app)))

  return {
    checks: [...checks, ...(callers === null ? [] : [except(isPublic, requireKnownCaller(callers))]), decodablePath],
    routes: app.routes,
    async handle(request, place) {
      if (place === undefined) return app.fetch(request)
      try {
        return await app.fetch(request, { place })
      } finally {
        // A request that was rejected before its verb began has not freed its place.
        place.leave()
      }
    },
  }
}

function only<Step>(condition: boolean, step: Step): Step[] {
  return condition ? [step] : []
}

/**
 * Paths that clients of the Model Context Protocol request after a 401. They need no credential, so that the response
 * is a 404, which means that there is no OAuth. A path outside the base path begins with a second slash (`pathBelow`).
 */
const OAUTH_DISCOVERY = /^\/{1,2}\.well-known\/oauth-/

/** Whether a path needs no credential. */
function publicMatcher(endpoints: readonly Endpoint[]): (path: string) => boolean {
  const isOfEndpoint = matcherOf(endpoints.filter(({ access }) => access === null))
  const hasMcp = endpoints.some(({ feature }) => feature === 'mcp')
  return (path) => isOfEndpoint(path) || (hasMcp && OAUTH_DISCOVERY.test(path))
}

/** Whether responses have the header `Idempotency-Replayed`. */
function reportsReplays({ responses }: Endpoint): boolean {
  return Object.values(responses).some(({ headers }) => headers?.includes('Idempotency-Replayed'))
}

/** Runs the step, except for public paths and for OPTIONS without a credential: preflights have none. */
function except<C extends RequestHead, T>(isPublic: (path: string) => boolean, step: (c: C) => T) {
  const isPreflight = ({ req }: C) => req.method === 'OPTIONS' && req.header('Authorization') === undefined
  return (c: C): T | undefined => (isPublic(c.req.path) || isPreflight(c) ? undefined : step(c))
}

/** The verbs over their ports: each decides whether its caller may, acts, and may check its output. */
export function bindVerbs<Verbs extends Record<string, AnyVerb>>(verbs: Verbs, ports: VerbPorts): BoundVerbs<Verbs> {
  const bound = Object.entries(verbs).map(([name, verb]) => {
    const acting = actOf(verb, ports)
    const decided = (input: never, call: Call) => {
      const done = verb.decide(ports, input, call, acting as never)
      // Without a policy a waiting request has no further promise, which takes memory.
      return call.callerNow === undefined ? done : orRevoked(done, verb.access ?? name, call)
    }
    return [name, decided]
  })
  return Object.fromEntries(bound)
}

/** What a verb does once its caller may. For a verb without an effect, that is `act` alone, for the same reason. */
function actOf({ act, keyed, outputOf }: AnyVerb, ports: VerbPorts): (input: never, call: Call) => Promise<unknown> {
  const isChecked = outputOf !== undefined && ports.checksOutputs === true
  if (keyed === undefined && !isChecked) return (input, call) => act(ports, input, call)
  return async (input, call) => {
    try {
      const output = await act(ports, input, call)
      const checked = isChecked ? outputOf(output as never, input) : null
      if (checked !== null) await checkOutput(ports, checked, call)
      return output
    } catch (error) {
      throw keyed !== undefined && keyed(input).idempotencyKey === undefined ? withoutRepeat(error) : error
    }
  }
}

export interface WorkflowsOptions
  extends Omit<Ports, 'engineSupport' | 'knownRuns' | 'links' | 'now' | 'searchAttributes'>,
    Omit<CacheOptions, 'now'> {
  /** The catalog and the namespace of requests and rules that do not name one. */
  defaults: Defaults
  /** Default: links are not enabled. */
  links?: Links
  /** Limit on the memory for results of closed runs; 0 keeps none. */
  resultCacheBytes: number
}

// So many calls fit on one connection, and an engine answers thousands per second in this way.
const LAST_READS_AT_ONCE = 100

/** The verbs over their ports. What they start passes `checkOpenRun`, and what they read passes `keepClosedRuns`. */
export function createWorkflows(options: WorkflowsOptions): Workflows {
  const { onCacheRead, resultCacheBytes, defaults, ...given } = options
  const kept = keepClosedRuns(given.engine, { maxBytes: resultCacheBytes, onCacheRead })
  const describeShared = shareCalls(TIMEOUT_MS.describe, (key: string, call) => kept.describe(JSON.parse(key), call))
  const knownRuns = createKnownRuns({ engine: kept, onCacheRead })
  const parts = { ...given, engine: noteRuns(checkOpenRun(kept, knownRuns)) }
  const engineSupport = createEngineSupport({ engine: kept, onCacheRead })
  const ports: VerbPorts = {
    ...parts,
    engineSupport,
    namespace: given.catalogs.namespace,
    defaults,
    knownRuns,
    searchAttributes: createSearchAttributes({ engine: kept, onCacheRead }),
    links: given.links ?? createLinks({ ...NO_KEYS, defaults }),
    describeShared: noteRuns(decorated(kept, { describe: (ref, call) => describeShared(toKey(ref), call) })).describe,
    ...(sharesPromises() && { limitLastReads: createLimiter(LAST_READS_AT_ONCE) }),
    filterCatalog: createCatalogFilter(),
    readChain: createReadChain(parts),
    readCapabilities: createCapabilities({ ...parts, engineSupport }),
  }
  return { ...bindVerbs(VERBS, ports), ready: createReadiness({ ...parts, onCacheRead }) }
}

const NO_KEYS = { keys: null, publicUrl: null, deployment: null, namespaces: [], findRule: () => undefined }

/** The engine of a namespace, loaded with its first call. */
export function createObservedEngine(options: EngineOptions, { tracer, metrics }: EngineObservers): Engine {
  const transport = observedTransport(options.transport, { tracer, metrics })
  return measuredWaits(lazyEngine({ ...options, transport }), metrics)
}

type AnyCall = (...args: unknown[]) => unknown

/** An engine whose modules are loaded with its first call, so that a service listens earlier. */
export function lazyEngine(options: EngineOptions): Engine {
  const engine = lazy(
    () => import('./engine/engine.ts'),
    ({ createEngine }) => createEngine(options) as unknown as Record<string, AnyCall>,
  )
  const calls = new Map<PropertyKey, AnyCall>()

  // Not async: each async function in which a waiting request is suspended takes half a KiB.
  function later(name: string): AnyCall {
    const act = (loaded: Record<string, AnyCall>, args: unknown[]) => loaded[name]?.(...args)
    return (...args) => {
      const { current } = engine
      return current === undefined ? engine.get().then((loaded) => act(loaded, args)) : act(current, args)
    }
  }

  const readEntries: Engine['readEntries'] = async function* (...args) {
    const { readEntries } = (await engine.get()) as unknown as Engine
    yield* readEntries(...args)
  }

  return new Proxy({ readEntries } as Engine, {
    get(own, name) {
      // An object with a method `then` would be awaited as if it were a promise.
      if (name in own || typeof name === 'symbol' || name === 'then') return Reflect.get(own, name)
      const call = calls.get(name) ?? later(name)
      calls.set(name, call)
      return call
    },
  })
}
