import { Hono } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { Workflows } from '../domain/model/workflows.ts'
import { lazy } from '../lib/lazy.ts'
import { authenticate, authorize, requireKnownCaller, takeUrlToken } from './authorize.ts'
import { jsonReader, rawReader, rejectContentLength } from './body.ts'
import { createConstantJson } from './constant-json.ts'
import {
  type Env,
  forwardHeaders,
  type RequestCheck,
  type RequestHead,
  type RequestStep,
  requestId,
} from './context.ts'
import { allowOrigins } from './cors.ts'
import type { AccessTokens } from './credentials/access-tokens.ts'
import type { Callers } from './credentials/callers.ts'
import { rejectCrossSite, requireLoopbackHost } from './cross-site.ts'
import {
  type Access,
  type Endpoint,
  type McpSettings,
  matcherOf,
  type OpenLink,
  type Service,
  toHandler,
} from './endpoint.ts'
import { createDocsResponder, type ReadDocsFile } from './endpoints/docs.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import { COMMENT_EVERY_MS } from './events.ts'
import { createHooks, type Hooks } from './hooks/hooks.ts'
import { checkIdempotencyKey, notReplayed, rejectIdempotencyKey } from './idempotency-key.ts'
import { type CallerLimiter, createAnswerLimit, createCallerLimiter, limitCallers } from './limit-callers.ts'
import { type InFlightLimit, limitInFlight } from './limit-in-flight.ts'
import { type App, requireNamespace } from './namespaces.ts'
import { type AuditMode, audit, type Observers } from './observe.ts'
import { createRouter, decodablePath, type Mount, mountBelowNamespace, pathBelow } from './path.ts'
import { abortable, createOpenRequests, endWithCredential, type OpenRequests, serve } from './serve.ts'
import { notFound, unmatched } from './unmatched.ts'

export interface AppOptions {
  /** Null for the app of all names that are not namespaces of the service. */
  workflows: Workflows | null
  /** The engine's namespace, which the OpenAPI document names. */
  namespace: string
  /** The namespace of paths without one. Default: this one. */
  defaultNamespace?: string
  /** Whether the paths begin with `/namespaces/<name>`. Default: false. */
  isNamespaced?: boolean
  /** The catalog of requests that do not name one. */
  defaultCatalog: string
  /** Each request must have a credential of one of them; null allows requests without one. */
  callers: Callers | null
  /** `POST /tokens` creates tokens with it, and `callers` verifies them with it. Default: no access tokens exist. */
  accessTokens?: AccessTokens | null
  /** Counts what each caller uses. Apps that serve the same callers share one. */
  callerLimiter?: CallerLimiter
  /** What happens with the webhooks of other systems. Default: there are no hooks. */
  hooks?: Hooks
  /** What the audit log records. Default: `off`. */
  audit?: AuditMode
  maxBodyBytes: number
  /** The limit on requests in flight, which all apps share. Requests that only wait do not count. */
  limit: InFlightLimit
  /** How long a body may take to arrive. Default 27 s, so that the connection is closed within the contract's 30 s. */
  bodyTimeoutMs?: number
  /** Maximum `timeout` of a `run`, and `wait` for a result. */
  maxTimeoutMs: number
  /** Names of request headers that are forwarded to workers. */
  forwardHeaders?: readonly string[]
  /** Interval of the comments in an event stream. Default 10 s. */
  commentEveryMs?: number
  /** Origins whose pages may call the API from a browser; `*` allows all. */
  corsOrigins: string[]
  /** Set when no token is required because the server is bound to loopback: the `Host` header must be loopback too. */
  loopbackOnly?: boolean
  /** False where a request cannot await a promise of another request (workerd). */
  sharesPending?: boolean
  /** Where the routes are mounted. Default: at the root. */
  mount?: Mount
  observers: Observers
  /** What `GET /metrics` returns; null where metrics are not supported. If absent, the route does not exist. */
  readMetrics?: (() => string) | null
  /** Reads the files of `GET /docs`; null where the page is not supported. If absent, the routes do not exist. */
  readDocsFile?: ReadDocsFile | null
  /** If absent, there are no links. */
  openLink?: OpenLink
  /** If absent, `POST /mcp` does not exist. */
  mcp?: McpSettings
  /** To abort the open requests at shutdown. */
  openRequests?: OpenRequests
}

// The value if `POST /mcp` does not exist. Then nothing uses it.
const NO_MCP: McpSettings = { waitMs: 0, ttlMs: 0 }

const NO_LINKS: OpenLink = async () => {
  throw new ServiceError('NotSupportedError', 'Links are not enabled (GET /capabilities: links)')
}

// Loaded on demand: docs/decisions/020-what-is-loaded-when.md.
const createDocument = lazy(
  () => import('./openapi/document.ts'),
  ({ openApiDocument }) => openApiDocument,
)

/**
 * The HTTP application of a namespace: its endpoints, and the steps of each request before its endpoint. `stepsOf` has
 * them in their order.
 */
export function createApp(options: AppOptions): App {
  const { maxBodyBytes, readMetrics = null, readDocsFile, openRequests = createOpenRequests() } = options
  const { mount = { basePath: '' }, sharesPending = true, forwardHeaders: forwarded = [] } = options
  const { namespace, defaultNamespace = namespace, isNamespaced = false, workflows, limit } = options
  const { basePath, pathOf } = isNamespaced
    ? mountBelowNamespace(mount, namespace)
    : { ...mount, pathOf: pathBelow(mount) }
  const {
    mcp = NO_MCP,
    openLink = NO_LINKS,
    callers,
    accessTokens = null,
    hooks = createHooks({}, {}),
    audit: mode = 'off',
    callerLimiter = createCallerLimiter(),
  } = options
  const requiresToken = callers !== null
  const isMounted = {
    metrics: options.readMetrics !== undefined,
    docs: readDocsFile !== undefined,
    mcp: options.mcp !== undefined,
  }
  const endpoints = ENDPOINTS.filter(
    ({ feature, isOfService }) => (feature === undefined || isMounted[feature]) && !(isNamespaced && isOfService),
  )

  const bodyLimits = { maxBytes: maxBodyBytes, timeoutMs: options.bodyTimeoutMs ?? 27_000 }
  const service: Service | null = workflows && {
    workflows,
    namespace,
    accessTokens,
    json: jsonReader(bodyLimits),
    raw: rawReader(bodyLimits),
    hooks,
    defaultCatalog: options.defaultCatalog,
    maxTimeoutMs: options.maxTimeoutMs,
    commentEveryMs: options.commentEveryMs ?? COMMENT_EVERY_MS,
    mcp,
    openLink,
    admitAnswer: createAnswerLimit(),
    async describeCatalog(catalog) {
      const create = createDocument.current ?? (await createDocument.get())
      const { maxTimeoutMs } = options
      return create({ namespace, isNamespaced, basePath, maxTimeoutMs, requiresToken, endpoints }, catalog)
    },
    respondDocument: createConstantJson({ sharesPending }),
    respondCatalog: createConstantJson(),
    respondDocsFile: createDocsResponder({ read: readDocsFile ?? null, tokenRequired: requiresToken }),
    readMetrics,
  }

  const observers = { ...options.observers, isPeriodic: matcherOf(ENDPOINTS.filter(({ isPeriodic }) => isPeriodic)) }
  const isPublic = publicMatcher(isNamespaced ? [] : endpoints)
  const checks: RequestCheck[] = [
    ...(options.loopbackOnly === true ? [requireLoopbackHost] : []),
    rejectCrossSite(options.corsOrigins),
    rejectContentLength(maxBodyBytes),
  ]
  const everyRequest: RequestStep[] = [
    requestId(basePath),
    ...(options.corsOrigins.length > 0 ? [allowOrigins(options.corsOrigins)] : []),
    ...checks,
  ]
  const authenticated = callers === null ? [] : [except(isPublic, authenticate(callers))]
  const work = [limitInFlight(limit), abortable(openRequests)]
  const workSteps = { nothing: [], work, wait: [...work, endWithCredential] }
  const forward = forwarded.length > 0 ? [forwardHeaders(forwarded)] : []
  const keySteps = { taken: [checkIdempotencyKey], rejected: [rejectIdempotencyKey], ignored: [] }

  const exists = workflows !== null
  const ofNamespace = requireNamespace({ name: namespace, exists, defaultNamespace, isNamespaced })

  function accessSteps(access: Access | null, takes: Endpoint['takes']): RequestStep[] {
    const audited = audit({ mode, namespace: exists ? namespace : null, observers }, access)
    if (access === null) return [audited]
    return [
      audited,
      // Before the next two, so that requests that they reject count towards the limits of their caller, too.
      ...(callers === null ? [] : [limitCallers(callerLimiter, takes)]),
      ...(isNamespaced || access !== 'any' ? [ofNamespace] : []),
      ...(callers === null ? [] : [authorize(access)]),
    ]
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
      ...(reportsReplays(endpoint) ? [notReplayed] : []),
      ...(endpoint.path.startsWith('/workflow/') ? [...forward, decodablePath] : []),
      ...keySteps[endpoint.key],
      ...workSteps[endpoint.takes],
    ]
  }

  const app = new Hono<Env>({ getPath: pathOf, router: createRouter() })
  // `service` is null if the namespace does not exist. Then `requireNamespace` rejects every request.
  for (const endpoint of endpoints)
    app.on(
      endpoint.method,
      endpoint.path,
      serve(observers, stepsOf(endpoint), service ? toHandler(endpoint, service) : notFound),
    )
  const withoutRoute = [...everyRequest, takeUrlToken(null), ...authenticated, ...(isNamespaced ? [ofNamespace] : [])]
  app.notFound(serve(observers, withoutRoute, unmatched(app)))

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

/** Runs the step, except for public paths and for preflights, which have no credential. */
function except<C extends RequestHead, T>(isPublic: (path: string) => boolean, step: (c: C) => T) {
  return (c: C): T | undefined => (c.req.method === 'OPTIONS' || isPublic(c.req.path) ? undefined : step(c))
}
