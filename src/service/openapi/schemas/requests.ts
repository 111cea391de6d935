/** The bodies of requests, from the schemas that validate them. */

import { ENDPOINTS } from '../../endpoints.ts'
import { limited } from '../../http/endpoint.ts'
import { described, ref, type Schema } from '../../http/openapi/schema.ts'
import { zodToJsonSchema } from '../to-json-schema.ts'

/** The default of `SERVICE_RUN_MAX_TIMEOUT`. The document of a service has its own maximum. */
export const MAX_TIMEOUT_MS = 86_400_000

export function requestSchemas(): Record<string, Schema> {
  const bodies = new Map(ENDPOINTS.flatMap(({ body }) => (body === undefined ? [] : [[body.name, body.schema]])))
  const schemas = [...bodies].map(([name, schema]): [string, Schema] => [
    name,
    zodToJsonSchema(limited(schema, MAX_TIMEOUT_MS)),
  ])
  const { StartRequest: start = {}, StartActivityRequest: ofActivity = {} } = Object.fromEntries(schemas)
  const shared = sharedTypes(start)
  return {
    ...Object.fromEntries(schemas.map(([name, schema]) => [name, sharing(schema, shared)])),
    StartOptions: startOptions(sharing(start, shared)),
    StartActivityOptions: startOptions(sharing(ofActivity, shared)),
    ...shared,
  }
}

/** The fields of a start without the name and the arguments. */
function startOptions({ properties, not }: Schema): Schema {
  const entries = Object.entries(properties as Record<string, Schema>)
  const options = Object.fromEntries(entries.filter(([name]) => !NOT_OPTIONS.includes(name)))
  const { anyOf } = not as { anyOf: readonly { required: readonly string[] }[] }
  const conflicts = anyOf.filter(({ required }) => required.every((name) => Object.hasOwn(options, name)))
  return { type: 'object', properties: options, ...(conflicts.length > 0 && { not: { anyOf: conflicts } }) }
}

const NOT_OPTIONS = ['workflowName', 'activityName', 'input', 'args', 'payloads']

/**
 * The names of types for fields that several requests have. Without them generators make new types for each request.
 */
const SHARED: Readonly<Record<string, string>> = {
  memo: 'Memo',
  searchAttributes: 'SearchAttributes',
  headers: 'TemporalHeaders',
  startDelay: 'Duration',
  executionTimeout: 'Duration',
  runTimeout: 'Duration',
  taskTimeout: 'TaskTimeout',
  retry: 'RetryPolicy',
  workflowIdConflictPolicy: 'WorkflowIdConflictPolicy',
  workflowIdReusePolicy: 'WorkflowIdReusePolicy',
  priority: 'Priority',
}

function sharedTypes({ properties }: Schema): Record<string, Schema> {
  const fields = properties as Record<string, Schema>
  return Object.fromEntries(
    Object.entries(SHARED).map(([field, name]) => {
      const { description: _, ...type } = fields[field] ?? {}
      return [name, type]
    }),
  )
}

/** The schema, with references to the shared types. A field of the same name can have another type. */
function sharing(schema: Schema, shared: Record<string, Schema>): Schema {
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const properties = entries.map(([name, property]) => {
    const type = Object.hasOwn(SHARED, name) ? SHARED[name] : undefined
    const { description, ...own } = property
    const isShared = type !== undefined && JSON.stringify(own) === JSON.stringify(shared[type])
    return [name, isShared ? described(ref(type), String(description)) : property]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}
