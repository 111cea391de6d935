import { basePath } from './config/base-path.ts'
import { type EngineApiConfig, engineApiConfig, pathFault } from './config/engine.ts'
import { type TracesConfig, tracesConfig } from './config/traces.ts'
import {
  bytes,
  duration,
  type Environment,
  flag,
  integer,
  list,
  matching,
  readVariables,
  satisfying,
  type Variables,
  where,
  without,
} from './config/variables.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { catalogFault } from './protocol/names.ts'

export { BASE_PATH_RULE, toBasePath } from './config/base-path.ts'
export { hidingValues } from './config/redact-log-values.ts'
export { ConfigError, type Environment } from './config/variables.ts'

/** Everything the environment says, checked. `docs/configuration.md` describes each variable. */
export interface Config {
  engine: EngineApiConfig
  /** Catalog of requests that name none. */
  catalog: string
  server: { host: string; port: number; shutdownTimeoutMs: number }
  /** What the path of every route begins with, like `/portico`; empty: nothing. */
  basePath: string
  access: AccessConfig
  limits: LimitsConfig
  /** How long what was read of a catalog counts as fresh. */
  catalogTtlMs: number
  /** How long a query or an update may wait for its worker. */
  messageTimeoutMs: number
  traces: TracesConfig
  logLevel: LogLevel
  /** Sentences for the log: variables that have no effect because their names look misspelled. */
  warnings: readonly string[]
}

export interface AccessConfig {
  /** Any of these opens the door; null: it stands open. */
  tokens: string[] | null
  /** Origins whose browsers may call; `*`: all. */
  corsOrigins: string[]
  /** Without a token, and bound to an address that only this machine reaches. */
  loopbackOnly: boolean
}

export interface LimitsConfig {
  maxBodyBytes: number
  /** Of the payloads of one call, encoded, summed. */
  maxPayloadBytes: number
  /** The longest `timeout` a `run` may ask for. */
  maxRunTimeoutMs: number
}

const MEBIBYTE = 1024 * 1024

// The engine refuses a payload of 2 MiB; an oversized update it takes, and the run is lost. The margin is for what wraps the payload.
const MAX_PAYLOAD_BYTES = 2 * MEBIBYTE - 16 * 1024

/** Where the service is about to run. */
export interface Surroundings {
  /** The caller is an entry that opens the socket on `server.host` itself. */
  binds: boolean
  /** There are neither sockets nor files (workerd): no gRPC, no Redis over TCP, no local traces. */
  isolated?: boolean
}

/** Throws one `ConfigError` that lists every fault. */
export function parseConfig(env: Environment, { binds, isolated = false }: Surroundings): Config {
  const { value, warnings } = readVariables(env, (variables) => {
    const { read } = variables
    const tokens = read('SERVICE_API_AUTH_TOKEN', tokenList)
    const { host, loopbackOnly } = serverHost(variables, binds)
    const engine = engineApiConfig(variables, { isolated })
    return {
      engine,
      catalog: defaultCatalog(variables, engine.transport),
      server: {
        host,
        port: read('SERVICE_PORT', integer(0, 65_535)) ?? 3001,
        shutdownTimeoutMs: read('SERVICE_SHUTDOWN_TIMEOUT', duration({ leastMs: 1 })) ?? 30_000,
      },
      basePath: read('SERVICE_BASE_PATH', basePath) ?? '',
      access: { tokens, corsOrigins: read('SERVICE_CORS_ORIGINS', originList) ?? [], loopbackOnly },
      limits: {
        maxBodyBytes: read('SERVICE_MAX_BODY_BYTES', bytes) ?? 2 * MEBIBYTE,
        maxPayloadBytes: read('SERVICE_MAX_PAYLOAD_BYTES', bytes) ?? MAX_PAYLOAD_BYTES,
        maxRunTimeoutMs: read('SERVICE_RUN_MAX_TIMEOUT', duration({ leastMs: 1 })) ?? 24 * 3_600_000,
      },
      catalogTtlMs: read('SERVICE_CATALOG_TTL', duration({ leastMs: 0 })) ?? 5000,
      messageTimeoutMs: read('SERVICE_MESSAGE_TIMEOUT', duration({ leastMs: 1 })) ?? 60_000,
      traces: tracesConfig(variables, { isolated }),
      logLevel: read('SERVICE_LOG_LEVEL', satisfying(toLogLevel, `must be one of ${LOG_LEVELS.join(', ')}`)) ?? 'info',
    }
  })
  return { ...value, warnings }
}

function defaultCatalog({ read, isSet, fault }: Variables, transport: EngineApiConfig['transport']): string {
  if (!isSet('SERVICE_CATALOG_ID')) fault('SERVICE_CATALOG_ID is required: the catalog (task queue) of the workers')
  const parse = without((catalog) => catalogFault(catalog) ?? (transport === 'http' ? pathFault(catalog) : null))
  return read('SERVICE_CATALOG_ID', parse) ?? ''
}

/** Without a token only who can reach this machine's own address may call, unless it is said aloud that all may. */
function serverHost({ read, isSet, fault }: Variables, binds: boolean): { host: string; loopbackOnly: boolean } {
  const guarded = isSet('SERVICE_API_AUTH_TOKEN')
  const host = read('SERVICE_HOST', matching(/^[\w.:%[\]-]+$/, 'must be a host name or an address'))?.replace(
    /^\[(.*)\]$/,
    '$1',
  )
  const anonymous = read('SERVICE_ALLOW_ANONYMOUS', flag) ?? false
  const bound = host ?? (guarded ? '0.0.0.0' : '127.0.0.1')
  if (!guarded && !anonymous && !(binds && isLoopback(bound))) {
    const reason = binds ? 'SERVICE_HOST is not a loopback address' : 'this entry cannot tell who reaches it'
    fault(`SERVICE_API_AUTH_TOKEN is required because ${reason}; SERVICE_ALLOW_ANONYMOUS=true lets everybody call`)
  }
  return { host: bound, loopbackOnly: !guarded && !anonymous }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(host)
}

const tokenList = where(
  where(list, (tokens) => tokens.length > 0, 'holds no token'),
  // Others can't be carried by a header as they are.
  (tokens) => tokens.every((token) => /^[\x20-\x7e]+$/.test(token)),
  'must be printable ASCII',
)

const originList = where(
  list,
  (origins) => origins.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)),
  'must be a comma-separated list of origins like https://app.example.com, or *',
)

function toLogLevel(value: string): LogLevel | null {
  return LOG_LEVELS.find((level) => level === value) ?? null
}
