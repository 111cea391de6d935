/** Reads one message of a client, with the rules of the protocol's revision that it uses. */
import { isObject } from '../../../shared/lib/json.ts'
import { LEGACY_VERSIONS, META, MODERN_VERSIONS, type RequestId, TASKS_EXTENSION } from './protocol.ts'
import { invalidParams, JsonRpcError, RPC_CODES } from './rpc-error.ts'

export interface RequestMessage {
  id: RequestId
  method: string
  params: Readonly<Record<string, unknown>>
  meta: Readonly<Record<string, unknown>>
  /** Legacy requests belong to a revision with `initialize`. */
  isLegacy: boolean
  /** Whether the client can handle tasks. */
  hasTasks: boolean
}

export type ReadHeader = (name: string) => string | undefined

// Messages of the server repeat the ids of the client. Clients send numbers or UUIDs.
const MAX_ID_LENGTH = 255

/** The id of a request; null if it has none that is valid. */
export function requestIdOf(body: unknown): RequestId | null {
  return isObject(body) ? toId(body.id) : null
}

/** The token for the progress of the request; null if it has none. Throws `JsonRpcError` if it is not valid. */
export function progressTokenOf({ progressToken }: RequestMessage['meta']): RequestId | null {
  if (progressToken === undefined) return null
  const token = toId(progressToken)
  if (token === null) throw invalidParams(`_meta.progressToken ${ID_RULE}`)
  return token
}

const ID_RULE = `must be a number, or a string of at most ${MAX_ID_LENGTH} characters`

function toId(value: unknown): RequestId | null {
  const isId = typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_ID_LENGTH)
  return isId ? value : null
}

/** The request; null for a notification. Throws `JsonRpcError`. */
export function readMessage(body: unknown, header: ReadHeader): RequestMessage | null {
  if (!isObject(body)) throw invalidRequest('The body must be one JSON-RPC message')
  const { jsonrpc, method, params = {} } = body
  if (jsonrpc !== '2.0' || typeof method !== 'string')
    throw invalidRequest('The message must have jsonrpc "2.0" and a method')
  if (body.id === undefined) return null
  const id = requestIdOf(body)
  if (id === null) throw invalidRequest(`id ${ID_RULE}`)
  if (!isObject(params)) throw invalid('params must be an object')
  const meta = params._meta ?? {}
  if (!isObject(meta)) throw invalid('_meta must be an object')
  const message = { id, method, params, meta }
  if (isLegacyRequest(meta, header)) return { ...message, isLegacy: true, hasTasks: false }
  requireModern(message, header)
  return { ...message, isLegacy: false, hasTasks: hasTasks(meta) }
}

const VERSION_HEADER = 'MCP-Protocol-Version'

/** Throws `JsonRpcError` for a header with an unknown revision, if `_meta` has none. */
function isLegacyRequest(meta: RequestMessage['meta'], header: ReadHeader): boolean {
  const version = header(VERSION_HEADER)?.trim()
  if (meta[META.protocolVersion] !== undefined || (version !== undefined && MODERN_VERSIONS.includes(version)))
    return false
  if (version === undefined || LEGACY_VERSIONS.some((known) => known === version)) return true
  throw unsupportedVersion(version)
}

/** Throws `JsonRpcError` if the headers differ from the message, or a required part is missing. */
function requireModern({ method, params, meta }: Omit<RequestMessage, 'isLegacy' | 'hasTasks'>, header: ReadHeader) {
  const version = meta[META.protocolVersion]
  if (typeof version !== 'string') throw invalid(`_meta must have "${META.protocolVersion}"`)
  requireHeader(header, VERSION_HEADER, version)
  if (!MODERN_VERSIONS.includes(version)) throw unsupportedVersion(version)
  if (!isObject(meta[META.clientCapabilities])) throw invalid(`_meta must have "${META.clientCapabilities}"`)
  requireHeader(header, 'Mcp-Method', method)
  const nameField = NAMED_BY.get(method)
  if (nameField === undefined) return
  const name = params[nameField]
  if (typeof name !== 'string') throw invalid(`${nameField} must be a string`)
  requireHeader(header, 'Mcp-Name', name)
}

/** The parameter that the header `Mcp-Name` repeats. */
const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** Proxies route by these headers, so they must not differ from what is executed. */
function requireHeader(header: ReadHeader, name: string, expected: string): void {
  const given = header(name)
  if (given !== undefined && decodeHeader(given) === expected) return
  const problem = given === undefined ? 'is missing' : 'differs from the message'
  throw new JsonRpcError(RPC_CODES.headerMismatch, `The header ${name} ${problem}`, { rejected: 'message' })
}

/** Values that are not plain ASCII are sent as `=?base64?…?=`. Null if that cannot be decoded. */
function decodeHeader(value: string): string | null {
  const trimmed = value.trim()
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(trimmed) ?? []
  if (encoded === undefined) return trimmed
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0)),
    )
  } catch {
    return null // neither base64 nor UTF-8
  }
}

function hasTasks(meta: RequestMessage['meta']): boolean {
  const capabilities = meta[META.clientCapabilities]
  const extensions = isObject(capabilities) ? capabilities.extensions : null
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION])
}

function invalidRequest(message: string): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidRequest, message, { rejected: 'message' })
}

function invalid(message: string): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, message, { rejected: 'message' })
}

function unsupportedVersion(requested: string): JsonRpcError {
  return new JsonRpcError(
    RPC_CODES.unsupportedVersion,
    `The protocol version ${requested.slice(0, 50)} is not supported`,
    {
      data: { supported: MODERN_VERSIONS, requested: requested.slice(0, 50) },
      rejected: 'message',
    },
  )
}
