/** The connection to the engine: the API and its workers read the same variables. */
import { characterFault } from '../protocol/names.ts'
import { baseUrl, flag, matching, satisfying, text, type Variables, without } from './variables.ts'

export interface EngineConfig {
  /** `<host>:<port>` of the engine's gRPC frontend. */
  address: string
  namespace: string
  apiKey: string | null
  /** Null: plain text. */
  tls: EngineTls | null
}

/** The files are read by the runtime's entry; without them the system's authorities and no client certificate are used. */
export interface EngineTls {
  caPath: string | null
  certPath: string | null
  keyPath: string | null
  /** Name expected in the engine's certificate; null: the host of the address. */
  serverName: string | null
}

/** How the API carries its calls. */
export interface EngineApiConfig extends EngineConfig {
  transport: TransportName
  /** Base URL of the engine's HTTP API; set whenever the transport is `http`. */
  httpUrl: string | null
  codecEndpoint: string | null
}

type TransportName = 'grpc' | 'http'

/** `transport`: what has to carry the namespace; a worker has gRPC alone. */
export function engineConfig(variables: Variables, transport: TransportName = 'grpc'): EngineConfig {
  const { read } = variables
  return {
    address:
      read('ENGINE_ADDRESS', satisfying(toAddress, 'must be <host>:<port>, without a scheme')) ?? '127.0.0.1:7233',
    namespace: read('ENGINE_NAMESPACE', NAMESPACE[transport]) ?? 'default',
    apiKey: read('ENGINE_API_KEY', matching(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')),
    tls: engineTls(variables),
  }
}

export function engineApiConfig(variables: Variables, { isolated }: { isolated: boolean }): EngineApiConfig {
  const { read, fault } = variables
  const transport =
    read('ENGINE_TRANSPORT', satisfying(toTransport, 'must be grpc or http')) ?? (isolated ? 'http' : 'grpc')
  const engine = engineConfig(variables, transport)
  const httpUrl = read('ENGINE_HTTP_URL', baseUrl())
  if (isolated && transport === 'grpc')
    fault('ENGINE_TRANSPORT=grpc is not supported on this runtime, which has no sockets: use http')
  if (transport === 'http') checkHttp(variables, engine.tls, httpUrl)
  return { ...engine, transport, httpUrl, codecEndpoint: read('ENGINE_CODEC_ENDPOINT', baseUrl()) }
}

const NAMESPACE = {
  grpc: matching(/^[\x20-\x7e]+$/, 'must be printable ASCII, because gRPC sends it in a header'),
  http: without((name) => (characterFault(name) === null ? pathFault(name) : 'must be well-formed text')),
}

/** What is wrong with a value that has to be one part of a path of the engine's HTTP API. */
export function pathFault(value: string): string | null {
  const isPart = !value.includes('/') && value !== '.' && value !== '..'
  return isPart
    ? null
    : 'must not contain a slash, nor be "." or "..", with ENGINE_TRANSPORT=http, where it is part of a URL path'
}

function checkHttp({ isSet, fault }: Variables, tls: EngineTls | null, httpUrl: string | null): void {
  if (!isSet('ENGINE_HTTP_URL'))
    fault("ENGINE_TRANSPORT=http needs ENGINE_HTTP_URL, the base URL of the engine's HTTP API")
  if (tls === null) return
  if (httpUrl?.startsWith('http:'))
    fault(
      'ENGINE_HTTP_URL must begin with https://, unless ENGINE_TLS=false says that all, with any API key, may travel in plain text',
    )
  if (Object.values(tls).some((value) => value !== null))
    fault(
      'ENGINE_TRANSPORT=http takes no ENGINE_TLS_CA, ENGINE_TLS_CERT, ENGINE_TLS_KEY or ENGINE_TLS_SERVER_NAME: fetch has only what the runtime trusts',
    )
}

function engineTls({ read, isSet, fault }: Variables): EngineTls | null {
  const tls: EngineTls = {
    caPath: read('ENGINE_TLS_CA', text),
    certPath: read('ENGINE_TLS_CERT', text),
    keyPath: read('ENGINE_TLS_KEY', text),
    serverName: read('ENGINE_TLS_SERVER_NAME', text),
  }
  const wanted = read('ENGINE_TLS', flag)
  const described = Object.values(tls).some((value) => value !== null)
  if ((tls.certPath === null) !== (tls.keyPath === null))
    fault('ENGINE_TLS_CERT and ENGINE_TLS_KEY are needed together')
  if (wanted === false && described) fault('ENGINE_TLS=false contradicts the other ENGINE_TLS_… variables')
  return (wanted ?? (described || isSet('ENGINE_API_KEY'))) ? tls : null
}

function toAddress(value: string): string | null {
  const port = /^(?:\[[\da-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(value)?.[1]
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? value : null
}

function toTransport(value: string): TransportName | null {
  return value === 'grpc' || value === 'http' ? value : null
}
