import { Hono } from 'hono'
import type { Workflows } from '../domain/model/workflows.ts'
import { abortable } from './abortable.ts'
import { requireToken } from './auth.ts'
import { rejectContentLength } from './body.ts'
import type { Env } from './context.ts'
import { allowOrigins } from './cors.ts'
import { rejectCrossSite, requireLoopbackHost } from './cross-site.ts'
import { COMMENT_EVERY_MS } from './events.ts'
import { forwardHeaders } from './forward-headers.ts'
import { checkIdempotencyKey, notReplayed } from './idempotency-key.ts'
import { jsonReader } from './json.ts'
import { createInFlightLimit, limitInFlight } from './limit-in-flight.ts'
import type { Observers } from './observe.ts'
import { createOpenRequests, type OpenRequests } from './open-requests.ts'
import { decodablePath, type Mount, pathBelow } from './path.ts'
import { requestId } from './request-id.ts'
import { createRouter } from './router.ts'
import { capabilities } from './routes/capabilities.ts'
import { catalog } from './routes/catalog.ts'
import { control } from './routes/control.ts'
import { docs, isDocsPath, type ReadDocsFile } from './routes/docs.ts'
import { health } from './routes/health.ts'
import { history } from './routes/history.ts'
import { inspect } from './routes/inspect.ts'
import { message } from './routes/message.ts'
import { metrics } from './routes/metrics.ts'
import { openApi } from './routes/openapi.ts'
import { result } from './routes/result.ts'
import { runs } from './routes/runs.ts'
import { run } from './routes/start/run.ts'
import { start } from './routes/start/start.ts'
import { validate } from './routes/start/validate.ts'
import { withStart } from './routes/start/with-start.ts'
import { mountRoutes, serve } from './serve.ts'
import { createLoadShedder, type LoadShedder } from './shed-load.ts'
import type { Check, Step } from './step.ts'
import { unmatched } from './unmatched.ts'

export interface AppOptions {
  workflows: Workflows
  /** The engine's namespace, which the OpenAPI document names. */
  namespace: string
  /** The catalog of requests that do not name one. */
  defaultCatalog: string
  /** The tokens that requests must have one of; null allows unauthenticated access. */
  auth: { tokens: string[] } | null
  maxBodyBytes: number
  /** How many requests may be in flight, without those that only wait. */
  maxInFlight: number
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
  /** What `GET /metrics` returns; null where metrics are not supported. Without it the route does not exist. */
  readMetrics?: (() => string) | null
  /** Reads the files of `GET /docs`; null where the page is not supported. Without it the routes do not exist. */
  readDocsFile?: ReadDocsFile | null
  /** To abort the open requests at shutdown. */
  openRequests?: OpenRequests
}

export interface App {
  fetch(request: Request): Promise<Response>
  /** For a server that can hold and reject requests before it has created a `Request`. `fetch` uses it, too. */
  loadShedder: LoadShedder
  /** What is mounted, below the base path. */
  routes: readonly { method: string; path: string }[]
}

/** The HTTP application: its routes, and the steps that a request passes before its route, in this order. */
export function createApp(options: AppOptions): App {
  const {
    workflows,
    defaultCatalog,
    maxBodyBytes,
    maxInFlight,
    bodyTimeoutMs = 27_000,
    maxTimeoutMs,
    commentEveryMs = COMMENT_EVERY_MS,
    readMetrics,
    readDocsFile,
    forwardHeaders: forwarded = [],
    openRequests = createOpenRequests(),
    mount = { basePath: '' },
    sharesPending = true,
  } = options
  const json = jsonReader({ maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs })
  const pathOf = pathBelow(mount)
  const app = new Hono<Env>({ getPath: pathOf, router: createRouter() })

  const isPublic = (path: string) =>
    path === '/health' || path === '/ready' || (readDocsFile !== undefined && isDocsPath(path))

  const checks: Check[] = [
    ...(options.loopbackOnly === true ? [requireLoopbackHost] : []),
    rejectCrossSite(options.corsOrigins),
    rejectContentLength(maxBodyBytes),
    ...(options.auth === null ? [] : [except(isPublic, requireToken(options.auth.tokens))]),
  ]
  const everyRequest: Step[] = [
    requestId(mount.basePath),
    ...(options.corsOrigins.length > 0 ? [allowOrigins(options.corsOrigins)] : []),
    ...checks,
  ]
  const limit = createInFlightLimit(maxInFlight, options.observers.metrics ?? null)
  const work = [limitInFlight(limit), abortable(openRequests)]
  const forward = forwarded.length > 0 ? [forwardHeaders(forwarded)] : []
  const workflowRequest = [...forward, decodablePath, checkIdempotencyKey, ...work]

  function mountBelow(path: string, routes: Hono<Env>, steps: readonly Step[] = workflowRequest): void {
    mountRoutes(app.basePath(path), routes, options.observers, [...everyRequest, ...steps])
  }

  mountBelow('/', health(workflows), [])
  if (readMetrics !== undefined) mountBelow('/', metrics(readMetrics), [])
  if (readDocsFile !== undefined)
    mountBelow('/', docs({ read: readDocsFile, tokenRequired: options.auth !== null }), work)
  mountBelow('/', capabilities(workflows), work)
  const document = {
    workflows,
    namespace: options.namespace,
    defaultCatalog,
    maxTimeoutMs,
    requiresToken: options.auth !== null,
    basePath: mount.basePath,
    sharesPending,
  }
  mountBelow('/', openApi({ ...document, routes: () => app.routes }), work)
  const startRequest = [notReplayed, ...workflowRequest]
  const startOptions = { workflows, json, defaultCatalog, maxTimeoutMs, commentEveryMs }
  mountBelow('/workflow', start(startOptions), startRequest)
  mountBelow('/workflow', run(startOptions), startRequest)
  mountBelow('/workflow', withStart(startOptions), startRequest)
  mountBelow('/workflow', validate(startOptions))
  mountBelow('/workflow/catalog', catalog(workflows, defaultCatalog))
  mountBelow('/workflow/runs', runs(workflows))
  for (const path of ['/workflow/:id', '/workflow/:id/runs/:rid']) {
    mountBelow(path, inspect(workflows))
    mountBelow(path, result({ workflows, maxTimeoutMs, commentEveryMs }))
    mountBelow(path, history(workflows, commentEveryMs))
    mountBelow(path, message(workflows, json))
    mountBelow(path, control(workflows, json))
  }
  app.notFound(serve(options.observers, everyRequest, unmatched(app)))
  const loadShedder = createLoadShedder({
    limit,
    observers: options.observers,
    corsOrigins: options.corsOrigins,
    checks: [...checks, decodablePath],
    pathOf,
    isWork,
    async handle(request, place) {
      if (place === undefined) return app.fetch(request)
      try {
        return await app.fetch(request, { place })
      } finally {
        // Also of a request that was rejected before it began to work.
        place.leave()
      }
    },
  })
  return {
    loadShedder,
    routes: app.routes,
    fetch: (request) => loadShedder.handle(request),
  }
}

/** Whether the path is below one of those that are mounted with `work`. */
function isWork(path: string): boolean {
  return path.startsWith('/workflow/') || path === '/capabilities' || path === '/openapi.json' || isDocsPath(path)
}

/** Preflights have no token either. */
function except(isPublic: (path: string) => boolean, reject: Check): Check {
  return (c) => (c.req.method === 'OPTIONS' || isPublic(c.req.path) ? undefined : reject(c))
}
