import { createHooks, type Hooks } from '../shared/hooks/hooks.ts'
import { lazy } from '../shared/lib/cache.ts'
import { UI_MESSAGES } from './fronts.ts'
import { createConstantJson } from './http/constant-json.ts'
import type { AccessTokens } from './http/credentials/access-tokens.ts'
import type { Callers } from './http/credentials/callers.ts'
import type { BulkSettings, Endpoint, McpSettings, OpenLink, Service } from './http/endpoint.ts'
import { COMMENT_EVERY_MS } from './http/events/events.ts'
import { createPageResponder, type ReadPageFile } from './http/page-files.ts'
import type { Mount } from './http/path.ts'
import { jsonReader } from './http/pipeline/body.ts'
import { type ByteBudget, createByteBudget } from './http/pipeline/byte-budget.ts'
import { type CallerLimiter, createAnswerLimit } from './http/pipeline/limit-callers.ts'
import type { AuditMode, Observers } from './http/pipeline/observe.ts'
import type { InFlightLimit } from './http/pipeline/places.ts'
import { provenReader } from './http/pipeline/proven-body.ts'
import type { OpenRequests } from './http/pipeline/serve.ts'
import { ServiceError } from './model/errors.ts'
import type { Workflows } from './verbs.ts'

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
  /** How many lines of a bulk are carried out at a time. Default: 32. */
  bulkConcurrency?: number
  /** For the bodies of webhooks until they are verified. Apps of one process share one. Default: it has no limit. */
  unproven?: ByteBudget
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
  /** Where the routes are mounted. Default: at the root. */
  mount?: Mount
  observers: Observers
  /** What `GET /metrics` returns; null where metrics are not supported. If absent, the route does not exist. */
  readMetrics?: (() => string) | null
  /** Reads the files of `GET /docs`; null where the page is not supported. If absent, the routes do not exist. */
  readDocsFile?: ReadPageFile | null
  /** The same for the console. */
  readConsoleFile?: ReadPageFile | null
  /** If absent, there are no links. */
  openLink?: OpenLink
  /** If absent, `POST /mcp` does not exist. */
  mcp?: McpSettings
  /** To abort the open requests at shutdown. */
  openRequests?: OpenRequests
}

// The value if `POST /mcp` does not exist. Then nothing uses it.
const NO_MCP: McpSettings = { waitMs: 0, ttlMs: 0, maxOutputBytes: 0 }

const NO_LINKS: OpenLink = async () => {
  throw new ServiceError('NotSupportedError', 'Links are not enabled (GET /capabilities: links)')
}

// Loaded on demand: docs/decisions/020-what-is-loaded-when.md.
const createDocument = lazy(
  () => import('./openapi/document.ts'),
  ({ openApiDocument }) => openApiDocument,
)

interface OwnParts extends Pick<BulkSettings, 'carryOut'> {
  endpoints: readonly Endpoint[]
  basePath: string
}

/** What the endpoints of an app use. `basePath`: that of its routes. */
export function createService(
  options: AppOptions,
  workflows: Workflows,
  { endpoints, basePath, carryOut }: OwnParts,
): Service {
  const { namespace, maxTimeoutMs, isNamespaced = false, readMetrics = null } = options
  const { readDocsFile = null, readConsoleFile = null } = options
  const { unproven = createByteBudget(Number.POSITIVE_INFINITY), bodyTimeoutMs: timeoutMs = 27_000 } = options
  const bodyLimits = { maxBytes: options.maxBodyBytes, timeoutMs }
  const requiresToken = options.callers !== null
  return {
    workflows,
    namespace,
    accessTokens: options.accessTokens ?? null,
    json: jsonReader(bodyLimits),
    bulk: { maxLineBytes: options.maxBodyBytes, idleMs: timeoutMs, atOnce: options.bulkConcurrency ?? 32, carryOut },
    proven: provenReader(bodyLimits, unproven),
    hooks: options.hooks ?? createHooks({}, {}),
    defaultCatalog: options.defaultCatalog,
    maxTimeoutMs,
    commentEveryMs: options.commentEveryMs ?? COMMENT_EVERY_MS,
    uiMessages: UI_MESSAGES,
    mcp: options.mcp ?? NO_MCP,
    openLink: options.openLink ?? NO_LINKS,
    admitAnswer: createAnswerLimit(),
    async describeCatalog(catalog) {
      const create = createDocument.current ?? (await createDocument.get())
      return create({ namespace, isNamespaced, basePath, maxTimeoutMs, requiresToken, endpoints }, catalog)
    },
    respondDocument: createConstantJson(),
    respondCatalog: createConstantJson(),
    respondDocsFile: createPageResponder(readDocsFile, requiresToken),
    respondConsoleFile: createPageResponder(readConsoleFile, requiresToken),
    readMetrics,
  }
}
