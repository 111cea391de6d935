import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { TrieRouter } from 'hono/router/trie-router'
import { ServiceError } from '../domain/errors.ts'
import type { Workflows } from '../domain/workflows.ts'
import type { Log } from '../log.ts'
import { requireToken } from './auth.ts'
import { refuseDeclaredLength } from './body.ts'
import { type Env, endWaiting } from './context.ts'
import { allowOrigins } from './cors.ts'
import { refuseCrossSite, requireLoopbackHost } from './cross-site.ts'
import { createDrain, type Drain } from './drain.ts'
import { problem } from './errors.ts'
import { COMMENT_EVERY_MS } from './events.ts'
import { refuseIdempotencyKey } from './idempotency-key.ts'
import { jsonReader } from './json.ts'
import { observe } from './observe.ts'
import { decodablePath, type Mount, pathBelow, rawPath } from './path.ts'
import { requestId } from './request-id.ts'
import { capabilities } from './routes/capabilities.ts'
import { catalog } from './routes/catalog.ts'
import { control } from './routes/control.ts'
import { health } from './routes/health.ts'
import { inspect } from './routes/inspect.ts'
import { message } from './routes/message.ts'
import { start } from './routes/start.ts'
import { updateWithStart } from './routes/update-with-start.ts'

export interface AppOptions {
  workflows: Workflows
  /** Catalog of requests that name none. */
  defaultCatalog: string
  /** Who may call; null: everybody. */
  auth: { tokens: string[] } | null
  maxBodyBytes: number
  /** For a whole body to arrive; 27 s: answered and closed, it is over within the contract's 30. */
  bodyTimeoutMs?: number
  /** The longest `timeout` of a `run`. */
  maxTimeoutMs: number
  /** How often an event stream that waits gets a comment; 10 s. */
  commentEveryMs?: number
  /** Origins whose browsers may call; `*`: all. */
  corsOrigins: string[]
  /** No token is needed, because only this machine can connect: requests must name it in `Host`. */
  loopbackOnly?: boolean
  /** Default: all routes are at the root. */
  mount?: Mount
  log: Log
  /** Ends the waits of a server that shuts down. */
  drain?: Drain
}

/** The service's HTTP face: what happens to a request, in the order in which it happens. */
export function createApp(options: AppOptions): { fetch(request: Request): Promise<Response> } {
  const {
    workflows,
    defaultCatalog,
    maxBodyBytes,
    bodyTimeoutMs = 27_000,
    maxTimeoutMs,
    commentEveryMs = COMMENT_EVERY_MS,
    drain = createDrain(),
    mount = { basePath: '' },
  } = options
  const json = jsonReader({ maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs })
  // Hono's own choice, once it has found that regular expressions can't tell these routes apart: milliseconds of the first answer.
  const app = new Hono<Env>({ getPath: pathBelow(mount), router: new TrieRouter() })

  app.use(requestId(mount.basePath), observe(options.log))
  if (options.corsOrigins.length > 0) app.use(allowOrigins(options.corsOrigins))
  if (options.loopbackOnly === true) app.use(requireLoopbackHost)
  app.use(refuseCrossSite(options.corsOrigins))
  app.use(declaredLength(maxBodyBytes))
  if (options.auth !== null) app.use(exceptPublic(requireToken(options.auth.tokens)))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }))

  app.route('/', health(workflows))
  app.use('/capabilities', endWaiting(drain))
  app.route('/', capabilities(workflows))
  app.use('/workflow/*', decodablePath, refuseIdempotencyKey, endWaiting(drain))
  const startOptions = { workflows, json, defaultCatalog, maxTimeoutMs, commentEveryMs }
  app.route('/workflow', start(startOptions))
  app.route('/workflow', updateWithStart(startOptions))
  app.route('/workflow/catalog', catalog(workflows, defaultCatalog))
  for (const run of ['/workflow/:id', '/workflow/:id/runs/:rid']) {
    app.route(run, inspect(workflows))
    app.route(run, message(workflows, json))
    app.route(run, control(workflows, json))
  }

  app.notFound((c) =>
    problem(c, new ServiceError('NotFoundError', `Route ${rawPath(c.req.raw).slice(0, MAX_SHOWN_PATH)} not found`)),
  )
  app.onError((error, c) => problem(c, error))
  return { fetch: async (request) => app.fetch(request) }
}

const MAX_SHOWN_PATH = 200

function declaredLength(maxBytes: number): MiddlewareHandler {
  return async (c, next) => {
    refuseDeclaredLength(c.req.raw, maxBytes)
    await next()
  }
}

function exceptPublic(guard: MiddlewareHandler): MiddlewareHandler {
  return (c, next) =>
    c.req.method === 'OPTIONS' || c.req.path === '/health' || c.req.path === '/ready' ? next() : guard(c, next)
}

/** The route exists with other methods: OPTIONS gets them as an answer, any other request as a refusal. */
function wrongMethod(c: Context<Env>, methods: string[]): Response {
  if (c.req.method === 'OPTIONS') {
    // Hono has made a 404 by now: neither its log fields nor its content type belong to this answer.
    c.set('facts', {})
    return new Response(null, { status: 204, headers: { Allow: methods.join(', ') } })
  }
  c.header('Allow', methods.join(', '))
  return problem(
    c,
    new ServiceError('MethodNotAllowedError', `Method ${c.req.method} is not allowed; use ${methods.join(', ')}`),
  )
}
