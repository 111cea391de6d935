import * as z from 'zod/mini'
import { LOG_LEVELS, type LogLevel } from '../log.ts'
import { type EngineApiConfig, engineApiConfig, pathIssue } from './config/engine.ts'
import type { FileText } from './config/json-document.ts'
import { type LimitsConfig, limitsConfig, MEBIBYTE } from './config/limits.ts'
import { type ParsedPolicy, type Policy, parsePolicy } from './config/policy.ts'
import { AUDIT_WITH_POLICY, type AuditLevel, policyConfig } from './config/policy-variables.ts'
import { type SigningConfig, signingConfig } from './config/signing.ts'
import { type TracesConfig, tracesConfig } from './config/traces.ts'
import {
  bearerToken,
  ConfigError,
  commaSeparatedList,
  duration,
  type Environment,
  flag,
  integerVariable,
  matching,
  readVariables,
  type Variables,
} from './config/variables.ts'
import { isLoopback } from './lib/network-address.ts'
import { checkedString } from './wire/checked-string.ts'
import { catalogIssue } from './wire/names.ts'

export { type FileText, parseFile } from './config/json-document.ts'
export {
  type ParsedPolicy,
  type Policy,
  type PolicyDocument,
  type PolicyNames,
  parsePolicy,
} from './config/policy.ts'
export { parsePolicyText } from './config/policy-variables.ts'
export { redactValues } from './config/redact-log-values.ts'
export { ConfigError, type Environment } from './config/variables.ts'

/** The validated configuration. `docs/configuration.md` describes each variable. */
export interface Config {
  engine: EngineApiConfig
  /** The catalog of requests that do not name one. */
  catalog: string
  server: {
    host: string
    port: number
    shutdownTimeoutMs: number
    /** How long a connection without a request stays open; null: the runtime's default. Only Node can set it. */
    idleTimeoutMs: number | null
  }
  /** The path that every route begins with, like `/portico`; may be empty. */
  basePath: string
  access: AccessConfig
  signing: SigningConfig
  limits: LimitsConfig
  /** How long a catalog is cached. */
  catalogTtlMs: number
  /** Names of request headers, in lower case, that workers receive as Temporal headers. */
  forwardHeaders: readonly string[]
  /** Limit on the memory for results of closed runs; 0 keeps none. */
  resultCacheBytes: number
  /** Whether to warn of outputs that do not match the schema of their workflow. */
  checkOutputs: boolean
  /** How long a query or an update may wait for a worker. */
  messageTimeoutMs: number
  traces: TracesConfig
  /** Null: off. */
  metrics: MetricsConfig | null
  /** Whether `GET /docs` exists. */
  docs: boolean
  /** Whether `GET /console` exists. */
  console: boolean
  /** How long a call of a tool waits for its workflow, and how long its text is. Null: `POST /mcp` does not exist. */
  mcp: { waitMs: number; maxOutputBytes: number } | null
  logLevel: LogLevel
  /** Sentences for the log, about variables that look misspelled and doubtful parts of the policy. */
  warnings: readonly string[]
}

export interface AccessConfig {
  /** The tokens of operators, who may do everything. Null without any: anyone may call, unless there is a policy. */
  tokens: string[] | null
  /** What other callers may do; null: there are none. */
  policy: Policy | null
  /** Which decisions about requests are logged. */
  audit: AuditLevel
  /** Whether `SERVICE_AUDIT` is set. */
  isAuditSet: boolean
  /** The secrets of webhooks, by the variables that hooks of the policy name. */
  hookSecrets: Readonly<Record<string, string>>
  /** Web pages of these origins may call; `*`: all origins. */
  corsOrigins: string[]
  /** Whether there is neither a token nor a policy, and only this machine can connect. */
  loopbackOnly: boolean
}

/** What `parseConfig` must know about the runtime. */
export interface Surroundings {
  /** The caller opens the socket on `server.host` itself, so a loopback address keeps other machines out. */
  binds: boolean
  /** The runtime has no sockets and no files (workerd): no gRPC, no Redis over TCP, no local traces. */
  isolated?: boolean
  /** The file that `SERVICE_POLICY_FILE` names. Without it, that variable is an error. */
  policyFile?: FileText | null
}

/** Throws a `ConfigError` that lists every error. */
export function parseConfig(env: Environment, surroundings: Surroundings): Config {
  const { value, warnings } = readVariables(env, (variables) => readConfig(variables, surroundings))
  return { ...value, warnings: [...warnings, ...value.warnings] }
}

/** Every variable of the service is declared by a call of `variables`. */
export function readConfig(variables: Variables, { binds, isolated = false, policyFile = null }: Surroundings): Config {
  const { read, readOr } = variables
  const tokens = read('SERVICE_API_AUTH_TOKEN', tokenList)
  const { host, loopbackOnly } = serverHost(variables, binds)
  const port = readOr('SERVICE_PORT', integerVariable(0, 65_535), 3001)
  const engine = engineApiConfig(variables, { isolated })
  const policy = policyConfig(variables, { isolated, file: policyFile, namespaces: engine.namespaces })
  return {
    engine,
    catalog: defaultCatalog(variables, engine.transport),
    server: {
      host,
      port,
      shutdownTimeoutMs: readOr('SERVICE_SHUTDOWN_TIMEOUT', duration({ minMs: 1 }), 30_000),
      idleTimeoutMs: read('SERVICE_IDLE_TIMEOUT', duration({ minMs: 1000 })),
    },
    basePath: read('SERVICE_BASE_PATH', basePath) ?? '',
    access: {
      tokens,
      policy: policy.policy,
      audit: policy.audit,
      isAuditSet: policy.isAuditSet,
      hookSecrets: policy.hookSecrets,
      corsOrigins: read('SERVICE_CORS_ORIGINS', originList) ?? [],
      loopbackOnly,
    },
    signing: signingConfig(variables),
    limits: limitsConfig(variables, isolated),
    catalogTtlMs: readOr('SERVICE_CATALOG_TTL', duration({ minMs: 0 }), 5000),
    forwardHeaders: read('SERVICE_FORWARD_HEADERS', forwardedHeaderList) ?? [],
    resultCacheBytes: readOr('SERVICE_RESULT_CACHE_BYTES', integerVariable(0), 16 * MEBIBYTE),
    checkOutputs: readOr('SERVICE_CHECK_OUTPUTS', flag, false),
    messageTimeoutMs: readOr('SERVICE_MESSAGE_TIMEOUT', duration({ minMs: 1 }), 60_000),
    traces: tracesConfig(variables, { isolated }),
    metrics: metricsConfig(variables, { isolated, servicePort: port }),
    docs: readOr('SERVICE_DOCS_ON', flag, false),
    console: readOr('SERVICE_CONSOLE_ON', flag, false),
    mcp: mcpConfig(variables),
    logLevel: readOr('SERVICE_LOG_LEVEL', logLevel, 'info'),
    warnings: policy.warnings,
  }
}

/**
 * The configuration with another policy, which is given as a document. Throws a `ConfigError` that lists every mistake
 * of the document.
 */
export function withPolicy(config: Config, document: unknown): Config {
  const { hookSecrets } = config.access
  const parsed: ParsedPolicy = parsePolicy(document, { namespaces: config.engine.namespaces, hookSecrets })
  if ('issues' in parsed) throw new ConfigError(parsed.issues.map((issue) => `policy ${issue}`))
  const { access, warnings } = config
  const audit = access.isAuditSet ? access.audit : AUDIT_WITH_POLICY
  return {
    ...config,
    access: { ...access, policy: parsed.policy, audit, loopbackOnly: false },
    warnings: [...warnings, ...parsed.warnings.map((warning) => `policy ${warning}`)],
  }
}

function defaultCatalog({ read, isSet, report }: Variables, transport: EngineApiConfig['transport']): string {
  if (!isSet('SERVICE_CATALOG_ID')) report('SERVICE_CATALOG_ID is required: the catalog (task queue) of the workers')
  const catalog = checkedString((id) => catalogIssue(id) ?? (transport === 'http' ? pathIssue(id) : null))
  return read('SERVICE_CATALOG_ID', catalog) ?? ''
}

/** With neither a token nor a policy the server must be bound to loopback, unless anonymous access is allowed. */
function serverHost(
  { read, readOr, isSet, report }: Variables,
  binds: boolean,
): { host: string; loopbackOnly: boolean } {
  const guarded = ['SERVICE_API_AUTH_TOKEN', 'SERVICE_POLICY', 'SERVICE_POLICY_FILE'].some(isSet)
  const host = read('SERVICE_HOST', matching(/^[\w.:%[\]-]+$/, 'must be a host name or an IP address'))?.replace(
    /^\[(.*)\]$/,
    '$1',
  )
  const anonymous = readOr('SERVICE_ALLOW_ANONYMOUS', flag, false)
  const bound = host ?? (guarded ? '0.0.0.0' : '127.0.0.1')
  if (!guarded && !anonymous && !(binds && isLoopback(bound))) {
    const reason = binds ? 'the server is not bound to loopback' : 'the service does not bind its own socket'
    report(
      `SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when ${reason}; set SERVICE_ALLOW_ANONYMOUS=true to allow unauthenticated access`,
    )
  }
  return { host: bound, loopbackOnly: !guarded && !anonymous }
}

const tokenList = z.pipe(
  commaSeparatedList,
  z.array(bearerToken).check(z.minLength(1, { error: 'must contain at least one token' })),
)

const originList = z.pipe(
  commaSeparatedList,
  z.array(
    z.string().check(
      z.refine((origin) => origin === '*' || isOrigin(origin), {
        error: 'must be a comma-separated list of origins like https://app.example.com, or *',
      }),
    ),
  ),
)

// The origin of an app or an extension: `capacitor://localhost`, `chrome-extension://<id>`.
const APP_ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[\w.-]+(?::\d+)?$/

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  // URLs of other schemes than http and https have the origin `null`.
  const { origin } = new URL(text)
  return origin === 'null' ? APP_ORIGIN.test(text) : origin === text
}

// Headers with secrets: of this service, of a proxy, or, in cookies, of other pages on the same host.
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization']

const forwardedHeaderList = z.pipe(
  commaSeparatedList,
  z.pipe(
    z.transform((names: string[]) => names.map((name) => name.toLowerCase())),
    z.array(
      matching(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a comma-separated list of header names').check(
        z.refine((name) => !SECRET_HEADERS.includes(name), {
          error: `must not contain ${SECRET_HEADERS.join(', ')}, because workers would receive secrets`,
        }),
      ),
    ),
  ),
)

const logLevel = z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })

/** The path that every route begins with: without a slash at its end, and empty for `/`. */
export const basePath = z.string().check(
  z.overwrite((path) => path.replace(/\/$/, '')),
  z.regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/, {
    error: 'must be a path like /portico or /apis/portico, of letters, digits, ".", "_", "~" and "-"',
  }),
)

function mcpConfig({ readOr }: Variables): Config['mcp'] {
  // Hosts give up after 30 to 60 s.
  const waitMs = readOr('SERVICE_MCP_WAIT', duration({ minMs: 0 }), 25_000)
  const maxOutputBytes = readOr('SERVICE_MCP_MAX_OUTPUT', integerVariable(1024), 64 * 1024)
  return readOr('SERVICE_MCP_ON', flag, true) ? { waitMs, maxOutputBytes } : null
}

/** How `GET /metrics` is served. */
export interface MetricsConfig {
  /** A port that serves nothing else; null: the port of the service. */
  port: number | null
  /** False where each isolate would count only its own requests (workerd). */
  supported: boolean
}

/** Null when metrics are off. */
function metricsConfig(
  { read, readOr, report }: Variables,
  { isolated, servicePort }: { isolated: boolean; servicePort: number },
): MetricsConfig | null {
  const port = read('SERVICE_METRICS_PORT', integerVariable(0, 65_535))
  if (port !== null && port !== 0 && port === servicePort)
    report('SERVICE_METRICS_PORT must differ from SERVICE_PORT; without it, /metrics is on SERVICE_PORT')
  return readOr('SERVICE_METRICS_ON', flag, false) ? { port: isolated ? null : port, supported: !isolated } : null
}
