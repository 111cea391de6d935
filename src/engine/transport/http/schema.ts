/** What calls over HTTP have to know of Temporal's messages. In bundles it is what this file gave when they were built (dev/baked-http-schema.ts). */
import proto from '@temporalio/proto'
import type * as protobuf from 'protobufjs'
import { METHODS, type SharedMethod } from '../transport.ts'

export interface HttpSchema {
  calls: Record<SharedMethod, HttpBinding>
  /** By name, without packages, each message; by name each of its fields: a scalar, a message or an enum; after `[]` a list of them, after `{}` a map. */
  messages: Record<string, Record<string, string>>
  /** By name, without packages, each enum; by name each number. */
  enums: Record<string, Record<string, number>>
}

export interface HttpBinding {
  verb: 'GET' | 'POST'
  /** Like `/namespaces/{namespace}/workflows/{execution.workflow_id}`. */
  template: string
  request: string
  response: string
}

/** Of the calls that we make and of the details of refusals, with all that they speak of. */
export function httpSchema(): HttpSchema {
  // The generated types hide that it is protobufjs' root, with the reflection.
  const root = proto as unknown as protobuf.Root
  const service = root.lookupService('temporal.api.workflowservice.v1.WorkflowService')
  const details = root.lookup('temporal.api.errordetails.v1') as protobuf.Namespace
  const messages: HttpSchema['messages'] = {}
  const enums: HttpSchema['enums'] = {}

  const added = new Map<string, string>()

  function add(object: protobuf.ReflectionObject | null): void {
    if (object === null || added.get(nameOf(object)) === object.fullName) return
    if (added.has(nameOf(object))) throw new Error(`${added.get(nameOf(object))} and ${object.fullName} have one name`)
    added.set(nameOf(object), object.fullName)
    if ('values' in object) enums[nameOf(object)] = (object as protobuf.Enum).values
    if (!('fieldsArray' in object)) return
    const fields = (object as protobuf.Type).fieldsArray.map((field) => field.resolve())
    messages[nameOf(object)] = Object.fromEntries(fields.map((field) => [field.name, typeOf(field)]))
    for (const { resolvedType } of fields) add(resolvedType)
  }

  function bindingOf(method: SharedMethod): HttpBinding {
    const rpc = service.methods[`${method.charAt(0).toUpperCase()}${method.slice(1)}`]
    rpc?.resolve()
    const { options = {}, resolvedRequestType: request = null, resolvedResponseType: response = null } = rpc ?? {}
    if (request === null || response === null) throw new Error(`WorkflowService has no ${method}`)
    add(request)
    add(response)
    const get: unknown = options['(google.api.http).get']
    const template = String(get ?? options['(google.api.http).post'])
    return { verb: get === undefined ? 'POST' : 'GET', template, request: nameOf(request), response: nameOf(response) }
  }

  const calls = Object.fromEntries(METHODS.map((method) => [method, bindingOf(method)])) as HttpSchema['calls']
  for (const detail of details.nestedArray) add(detail)
  return { calls, messages, enums }
}

function typeOf({ map, repeated, resolvedType, type }: protobuf.Field): string {
  return `${map ? '{}' : repeated ? '[]' : ''}${resolvedType === null ? type : nameOf(resolvedType)}`
}

/** `Callback.Nexus` of `.temporal.api.common.v1.Callback.Nexus`: packages begin with a small letter. */
function nameOf({ fullName }: protobuf.ReflectionObject): string {
  return fullName.replace(/^\.(?:[a-z]\w*\.)*/, '')
}
