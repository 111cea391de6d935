/**
 * Requests and responses of Temporal's HTTP API. Paths come from the annotations of its services; messages are in
 * protobuf's JSON format.
 */
import { ServiceError } from '../../../model/errors.ts'
import type { ErrorDetail, Method, Request, Response, SharedMethod } from '../transport.ts'
import { HTTP_API_FEATURES } from './features.ts'
import { createProtoJson } from './proto-json.ts'
import { type HttpBinding, httpSchema } from './schema.ts'

export interface HttpMessages {
  /** Throws `NotSupportedError` for a call without a path, and for an id or a name that a path cannot contain. */
  toCall<M extends Method>(method: M, request: Request<M>): HttpCall
  /** Throws when `text` is not a response to `method`. */
  fromResponse<M extends Method>(method: M, text: string): Response<M>
  /** The details of an error. Those of unknown types have a name and no fields. */
  toDetails(json: readonly unknown[]): ErrorDetail[]
}

export interface HttpCall {
  verb: HttpBinding['verb']
  /** With the query string. */
  path: string
  /** JSON; null for GET and DELETE. */
  body: string | null
}

export function createHttpMessages(): HttpMessages {
  const { calls, ...types } = httpSchema()
  const { read, write } = createProtoJson(types)
  return {
    toCall(method, message) {
      const { verb, template, request } = calls[sharedMethod(method)]
      const json = write(request, message)
      const path = `/api/v1${template.replace(PATH_FIELD, (_, field: string) => pathPart(field, valueAt(json, field)))}`
      if (verb === 'POST') return { verb, path, body: JSON.stringify(json) }
      const inPath = new Set([...template.matchAll(PATH_FIELD)].map(([, field = '']) => toCamelCase(field)))
      const query = new URLSearchParams(leaves(json).filter(([field]) => !inPath.has(field)))
      return { verb, path: query.size === 0 ? path : `${path}?${query}`, body: null }
    },
    fromResponse: <M extends Method>(method: M, text: string) =>
      read(calls[sharedMethod(method)].response, JSON.parse(text)) as Response<M>,
    toDetails: (json) => json.map((detail) => read('Any', detail) as ErrorDetail),
  }
}

function sharedMethod(method: Method): SharedMethod {
  switch (method) {
    case 'executeMultiOperation':
      throw notSupported(`Update-with-start is not supported: ${HTTP_API_FEATURES.updateWithStart.reason}`)
    case 'pollWorkflowExecutionUpdate':
      throw notSupported(`Asynchronous updates are not supported: ${HTTP_API_FEATURES.asyncUpdates.reason}`)
    default:
      return method
  }
}

function notSupported(message: string): ServiceError {
  return new ServiceError('NotSupportedError', message)
}

const PATH_FIELD = /\{([\w.]+)\}/g

/**
 * URLs resolve `.` and `..`, also when they are percent-encoded, and the engine decodes `%2F` to a slash: each would
 * reach another call.
 */
function pathPart(field: string, text: unknown): string {
  // An empty field is omitted from the JSON. Without it the path would reach another call, or a workflow named
  // "undefined".
  if (typeof text !== 'string') throw new Error(`the path requires ${field}`)
  if (text !== '.' && text !== '..' && !text.includes('/')) return encodeURIComponent(text)
  throw notSupported(`"${text}" is not supported: ${HTTP_API_FEATURES.slashInIds.reason}`)
}

function valueAt(json: object, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((object, part) => (object as Record<string, unknown> | undefined)?.[toCamelCase(part)], json)
}

function leaves(json: object, prefix = ''): [string, string][] {
  return Object.entries(json).flatMap(([key, value]) => {
    const field = `${prefix}${key}`
    if (Array.isArray(value)) return value.map((item): [string, string] => [field, String(item)])
    return typeof value === 'object' ? leaves(value, `${field}.`) : [[field, String(value)]]
  })
}

function toCamelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
