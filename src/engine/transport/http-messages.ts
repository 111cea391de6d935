/** Calls of Temporal's WorkflowService as its HTTP API takes them: paths from the service's own annotations, messages as protobuf's JSON. */
import proto from '@temporalio/proto'
import protojson from 'protobufjs/ext/protojson.js'
import * as protobuf from 'protobufjs/light.js'
import { ServiceError } from '../../domain/errors.ts'
import { type ErrorDetail, METHODS, type Method, type Request, type Response, shortName } from './transport.ts'

export interface HttpCall {
  verb: 'GET' | 'POST'
  /** From the API's root on, with the query string. */
  path: string
  /** JSON; null for GET. */
  body: string | null
}

/** Throws `NotSupportedError` for an id or a name that no path can hold. */
export function toHttpCall<M extends Method>(method: M, request: Request<M>): HttpCall {
  const { verb, template, requestType } = bindingOf(method)
  const json: JsonObject = protojson.toJson(requestType, request as protobuf.Message)
  const path = `/api/v1${template.replace(PATH_FIELD, (_, field: string) => pathPart(valueAt(json, field)))}`
  if (verb === 'POST') return { verb, path, body: JSON.stringify(json) }
  const inPath = new Set([...template.matchAll(PATH_FIELD)].map(([, field = '']) => toCamelCase(field)))
  const query = new URLSearchParams(leaves(json).filter(([field]) => !inPath.has(field)))
  return { verb, path: query.size === 0 ? path : `${path}?${query}`, body: null }
}

/** Throws for what is no answer to `method`. */
export function fromHttpAnswer<M extends Method>(method: M, text: string): Response<M> {
  const { responseType } = bindingOf(method)
  // Through its bytes once: only then it has the defaults, and the longs, that a message from gRPC has.
  return responseType.decode(responseType.encode(read(responseType, JSON.parse(text))).finish()) as unknown as Response<M>
}

/** The details of a refusal; those that are unknown here by their name alone. */
export function toErrorDetails(details: readonly JsonObject[]): ErrorDetail[] {
  return details.map(({ '@type': typeUrl, ...fields }) => {
    const name = shortName(String(typeUrl))
    const type = detailType(String(typeUrl))
    try {
      return { name, fields: type === null ? {} : read(type, fields) }
    } catch {
      // The well-known types have a JSON of their own; none of them tells us anything.
      return { name, fields: {} }
    }
  })
}

/** Makes all that calls will need. Workers may generate code only while their module loads, and protobufjs does so for each type at its first use. */
export function warmHttpMessages(): void {
  const seen = new Set<protobuf.Type>()
  for (const method of METHODS) {
    const { requestType, responseType } = bindingOf(method)
    setUp(requestType, seen)
    setUp(responseType, seen)
  }
  const details = root.lookup('temporal.api.errordetails.v1') as protobuf.Namespace
  for (const type of details.nestedArray) if (isType(type)) setUp(type, seen)
}

interface Binding {
  verb: 'GET' | 'POST'
  /** Like `/namespaces/{namespace}/workflows/{execution.workflow_id}`. */
  template: string
  requestType: protobuf.Type
  responseType: protobuf.Type
}

// biome-ignore lint/suspicious/noExplicitAny: protobufjs' own type of what JSON.parse gives
type JsonObject = Record<string, any>

// The generated types hide that it is protobufjs' root, with the reflection.
const root = proto as unknown as protobuf.Root

const PATH_FIELD = /\{([\w.]+)\}/g

const bindings = new Map<Method, Binding>()

function bindingOf(method: Method): Binding {
  const known = bindings.get(method)
  if (known !== undefined) return known
  const service = root.lookupService('temporal.api.workflowservice.v1.WorkflowService')
  const rpc = service.methods[toPascalCase(method)]
  rpc?.resolve()
  const { options = {}, resolvedRequestType: requestType = null, resolvedResponseType: responseType = null } = rpc ?? {}
  if (requestType === null || responseType === null) throw new Error(`WorkflowService has no ${method}`)
  const get: unknown = options['(google.api.http).get']
  const binding: Binding = {
    verb: get === undefined ? 'POST' : 'GET',
    template: String(get ?? options['(google.api.http).post']),
    requestType,
    responseType,
  }
  bindings.set(method, binding)
  return binding
}

/** URLs take `.` and `..` for steps along the path, however they are written, and the engine takes `%2F` for a slash: both would reach another call. */
function pathPart(value: unknown): string {
  const text = String(value)
  if (text !== '.' && text !== '..' && !text.includes('/')) return encodeURIComponent(text)
  throw new ServiceError(
    'NotSupportedError',
    `The engine is reached over its HTTP API, which has no path for "${text}": there, ids and names have no "/" and are not "." or ".."`,
  )
}

function valueAt(json: JsonObject, field: string): unknown {
  return field.split('.').reduce<JsonObject | undefined>((object, part) => object?.[toCamelCase(part)], json)
}

function leaves(json: JsonObject, prefix = ''): [string, string][] {
  return Object.entries(json).flatMap(([key, value]): [string, string][] =>
    typeof value === 'object' ? leaves(value, `${prefix}${key}.`) : [[`${prefix}${key}`, String(value)]],
  )
}

function toCamelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function toPascalCase(method: Method): string {
  return method.charAt(0).toUpperCase() + method.slice(1)
}

/** A newer engine may say more than our types know. */
function read(type: protobuf.Type, json: JsonObject): protobuf.Message {
  return protojson.fromJson(type, json, { ignoreUnknownFields: true })
}

function detailType(typeUrl: string): protobuf.Type | null {
  const found = root.lookup(typeUrl.slice(typeUrl.lastIndexOf('/') + 1), null)
  return found !== null && isType(found) ? found : null
}

/** What `setup` does for a type, without the three functions that nobody asks for: half of what a Worker's start takes. */
function setUp(type: protobuf.Type, seen: Set<protobuf.Type>): void {
  if (seen.has(type)) return
  seen.add(type)
  const types = type.fieldsArray.map((field) => field.resolve().resolvedType)
  type.encode = protobuf.encoder(type)({ Writer: protobuf.Writer, types, util: protobuf.util }) as protobuf.Type['encode']
  type.decode = protobuf.decoder(type)({ Reader: protobuf.Reader, types, util: protobuf.util, C: type.ctor }) as protobuf.Type['decode']
  for (const inner of types) if (inner !== null && isType(inner)) setUp(inner, seen)
}

function isType(object: protobuf.ReflectionObject): object is protobuf.Type {
  return 'fieldsArray' in object
}
