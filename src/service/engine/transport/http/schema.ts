/**
 * The message types that calls over HTTP use. Bundles contain the result of `httpSchema` instead of this file:
 * dev/build/baked-http-schema.ts.
 */
import proto from '@temporalio/proto'
import type * as protobuf from 'protobufjs'
import { isOperatorMethod, METHODS, type SharedMethod } from '../transport.ts'

export interface HttpSchema {
  calls: Record<SharedMethod, HttpBinding>
  /**
   * Messages by name without package, and their fields by name. The type of a field is the name of a scalar, a message
   * or an enum; it begins with `[]` for a list and `{}` for a map.
   */
  messages: Record<string, Record<string, string>>
  /** Enums by name without package, and their numbers by name. */
  enums: Record<string, Record<string, number>>
}

export interface HttpBinding {
  verb: 'GET' | 'POST' | 'DELETE'
  /** Like `/namespaces/{namespace}/workflows/{execution.workflow_id}`. */
  template: string
  request: string
  response: string
}

const VERBS = ['GET', 'POST', 'DELETE'] as const

/** The option with the path of a call. */
function optionOf(verb: HttpBinding['verb']): string {
  return `(google.api.http).${verb.toLowerCase()}`
}

/** Contains the calls in `METHODS`, the details of errors, and all types that they use. */
export function httpSchema(): HttpSchema {
  // The generated types do not say that the package exports the root of protobufjs' reflection.
  const root = proto as unknown as protobuf.Root
  const workflowService = root.lookupService('temporal.api.workflowservice.v1.WorkflowService')
  const operatorService = root.lookupService('temporal.api.operatorservice.v1.OperatorService')
  const details = root.lookup('temporal.api.errordetails.v1') as protobuf.Namespace
  const messages: HttpSchema['messages'] = {}
  const enums: HttpSchema['enums'] = {}

  const added = new Set<string>()
  const owners = new Map<string, string>()

  /**
   * `Callback.Nexus` of `.temporal.api.common.v1.Callback.Nexus`: packages begin with a lower-case letter. If two of
   * them have a type of the same name, the second one has its whole name.
   */
  function nameOf({ fullName }: protobuf.ReflectionObject): string {
    const name = fullName.replace(/^\.(?:[a-z]\w*\.)*/, '')
    const owner = owners.get(name) ?? fullName
    owners.set(name, owner)
    return owner === fullName ? name : fullName.slice(1)
  }

  function typeOf({ map, repeated, resolvedType, type }: protobuf.Field): string {
    return `${map ? '{}' : repeated ? '[]' : ''}${resolvedType === null ? type : nameOf(resolvedType)}`
  }

  function add(object: protobuf.ReflectionObject | null): void {
    if (object === null || added.has(object.fullName)) return
    added.add(object.fullName)
    if ('values' in object) enums[nameOf(object)] = (object as protobuf.Enum).values
    if (!('fieldsArray' in object)) return
    const fields = (object as protobuf.Type).fieldsArray.map((field) => field.resolve())
    messages[nameOf(object)] = Object.fromEntries(fields.map((field) => [field.name, typeOf(field)]))
    for (const { resolvedType } of fields) add(resolvedType)
  }

  function bindingOf(method: SharedMethod): HttpBinding {
    const service = isOperatorMethod(method) ? operatorService : workflowService
    const rpc = service.methods[`${method.charAt(0).toUpperCase()}${method.slice(1)}`]
    rpc?.resolve()
    const { options = {}, resolvedRequestType: request = null, resolvedResponseType: response = null } = rpc ?? {}
    if (request === null || response === null) throw new Error(`${service.name} has no ${method}`)
    add(request)
    add(response)
    const verb = VERBS.find((one) => options[optionOf(one)] !== undefined) ?? 'POST'
    const path = String(options[optionOf(verb)])
    // A path below `/cluster/` is not served with the prefix `/api/v1`, only as this alias.
    const alias = path.startsWith('/cluster/') ? options['(google.api.http).additional_bindings.get'] : undefined
    const template = String(alias ?? path).replace(/^\/api\/v1(?=\/)/, '')
    return { verb, template, request: nameOf(request), response: nameOf(response) }
  }

  const calls = Object.fromEntries(METHODS.map((method) => [method, bindingOf(method)])) as HttpSchema['calls']
  for (const detail of details.nestedArray) add(detail)
  return { calls, messages, enums }
}
