/** The connection to the engine. The API and its workers read the same variables. */
import * as z from 'zod/mini'
import { checkedString } from '../wire/checked-string.ts'
import { characterIssue } from '../wire/names.ts'
import { anyString, baseUrl, commaSeparatedList, flag, matching, type Variables } from './variables.ts'

export interface EngineConfig {
  /** `<host>:<port>` of the engine's gRPC frontend. */
  address: string
  namespace: string
  apiKey: string | null
  /** Null: no TLS. */
  tls: EngineTls | null
}

/**
 * Paths of files, which `engineTransport` reads. Without them TLS uses the system's certificate authorities and no
 * client certificate.
 */
export interface EngineTls {
  caPath: string | null
  certPath: string | null
  keyPath: string | null
  /** The name in the engine's certificate; null: the host of the address. */
  serverName: string | null
}

/** The API, unlike a worker, can also use the engine's HTTP API and a codec server. */
export interface EngineApiConfig extends EngineConfig {
  /** All namespaces that the API serves, each once; `namespace` is the first. */
  namespaces: readonly string[]
  transport: TransportName
  /** Base URL of the engine's HTTP API; set whenever the transport is `http`. */
  httpUrl: string | null
  codecEndpoint: string | null
  /** Temporal's web UI, which `GET /capabilities` names. */
  uiUrl: string | null
}

type TransportName = 'grpc' | 'http'

/** The namespace is validated for `transport`. Workers always use gRPC. */
export function engineConfig(variables: Variables, transport: TransportName = 'grpc'): EngineConfig {
  const { read, readOr, isSet } = variables
  // Marks it as known. Only the API reads it, but a worker that has it must not warn of a misspelled ENGINE_NAMESPACE.
  isSet('ENGINE_NAMESPACES')
  return {
    address: readOr('ENGINE_ADDRESS', address, '127.0.0.1:7233'),
    namespace: readOr('ENGINE_NAMESPACE', NAMESPACE[transport], 'default'),
    apiKey: read('ENGINE_API_KEY', matching(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')),
    tls: engineTls(variables),
  }
}

export function engineApiConfig(variables: Variables, { isolated }: { isolated: boolean }): EngineApiConfig {
  const { read, readOr, report } = variables
  const transport = readOr('ENGINE_TRANSPORT', transportName, isolated ? 'http' : 'grpc')
  const engine = engineConfig(variables, transport)
  const httpUrl = read('ENGINE_HTTP_URL', baseUrl)
  if (isolated && transport === 'grpc')
    report('ENGINE_TRANSPORT=grpc is not available on workerd (no TCP sockets); use http')
  if (transport === 'http') checkHttp(variables, engine.tls, httpUrl)
  return {
    ...engine,
    namespaces: [...new Set([engine.namespace, ...(read('ENGINE_NAMESPACES', namespaceList(transport)) ?? [])])],
    transport,
    httpUrl,
    codecEndpoint: read('ENGINE_CODEC_ENDPOINT', baseUrl),
    uiUrl: read('ENGINE_UI_URL', baseUrl),
  }
}

const NAMESPACE = {
  grpc: matching(/^[\x20-\x7e]+$/, 'must be printable ASCII, because gRPC sends it in a header'),
  http: checkedString((name) => characterIssue(name) ?? pathIssue(name)),
}

// Each namespace has clients, caches and polls of its own in the memory of the process.
const MAX_NAMESPACES = 100

/** Comma-separated. Each name is a segment of the service's own paths: `/namespaces/<name>/…`. */
function namespaceList(transport: TransportName) {
  return z.pipe(
    commaSeparatedList,
    z
      .array(
        z.pipe(
          NAMESPACE[transport],
          z.string().check(
            z.refine((name) => name !== '.' && name !== '..', {
              error: 'must not contain "." and "..": a URL cannot have such a segment',
            }),
          ),
        ),
      )
      .check(z.maxLength(MAX_NAMESPACES, { error: `must contain at most ${MAX_NAMESPACES} namespaces` })),
  )
}

/** Why a value cannot be one segment of a path of the engine's HTTP API; null when it can. */
export function pathIssue(value: string): string | null {
  const isSegment = !value.includes('/') && value !== '.' && value !== '..'
  return isSegment
    ? null
    : 'must not contain a slash and must not be "." or ".." when ENGINE_TRANSPORT=http: it is a segment of the URL path'
}

function checkHttp({ isSet, report }: Variables, tls: EngineTls | null, httpUrl: string | null): void {
  if (!isSet('ENGINE_HTTP_URL'))
    report("ENGINE_TRANSPORT=http requires ENGINE_HTTP_URL, the base URL of the engine's HTTP API")
  if (tls === null) return
  if (httpUrl?.startsWith('http:'))
    report(
      'ENGINE_HTTP_URL must begin with https:// when TLS is on; set ENGINE_TLS=false to send everything, including an API key, unencrypted',
    )
  if (Object.values(tls).some((value) => value !== null))
    report(
      'ENGINE_TRANSPORT=http does not support ENGINE_TLS_CA, ENGINE_TLS_CERT, ENGINE_TLS_KEY and ENGINE_TLS_SERVER_NAME: fetch uses the certificates that the runtime trusts',
    )
}

function engineTls({ read, isSet, report }: Variables): EngineTls | null {
  const tls: EngineTls = {
    caPath: read('ENGINE_TLS_CA', anyString),
    certPath: read('ENGINE_TLS_CERT', anyString),
    keyPath: read('ENGINE_TLS_KEY', anyString),
    serverName: read('ENGINE_TLS_SERVER_NAME', anyString),
  }
  const explicit = read('ENGINE_TLS', flag)
  const describesTls = Object.values(tls).some((value) => value !== null)
  if ((tls.certPath === null) !== (tls.keyPath === null))
    report('ENGINE_TLS_CERT and ENGINE_TLS_KEY must be set together')
  if (explicit === false && describesTls) report('ENGINE_TLS=false contradicts the other ENGINE_TLS_… variables')
  return (explicit ?? (describesTls || isSet('ENGINE_API_KEY'))) ? tls : null
}

const address = z.string().check(z.refine(isAddress, { error: 'must be <host>:<port>, without a scheme' }))

function isAddress(value: string): boolean {
  const port = /^(?:\[[\da-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(value)?.[1]
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
}

const transportName = z.enum(['grpc', 'http'], { error: 'must be grpc or http' })
