/** The bodies of requests, from the schemas that validate them. */
import { limited } from '../../endpoint.ts'
import { ENDPOINTS } from '../../endpoints/endpoints.ts'
import { toJsonSchema } from '../to-json-schema.ts'
import { described, ref, type Schema } from './schema.ts'

/** The default of `SERVICE_RUN_MAX_TIMEOUT`. The document of a service has its own maximum. */
export const MAX_TIMEOUT_MS = 86_400_000

export function requestSchemas(): Record<string, Schema> {
  const bodies = new Map(ENDPOINTS.flatMap(({ body }) => (body === undefined ? [] : [[body.name, body.schema]])))
  const schemas = [...bodies].map(([name, schema]): [string, Schema] => [
    name,
    toJsonSchema(limited(schema, MAX_TIMEOUT_MS)),
  ])
  const { StartRequest: start = {} } = Object.fromEntries(schemas)
  return {
    ...Object.fromEntries(schemas.map(([name, schema]) => [name, sharing(schema)])),
    StartOptions: startOptions(sharing(start)),
    ...sharedTypes(start),
  }
}

/** The fields of a start without the workflow's name and arguments. */
function startOptions({ properties, not }: Schema): Schema {
  const { workflowName: _, input: __, args: ___, ...options } = properties as Record<string, Schema>
  const { anyOf } = not as { anyOf: readonly { required: readonly string[] }[] }
  const conflicts = anyOf.filter(({ required }) => required.every((name) => Object.hasOwn(options, name)))
  return { type: 'object', properties: options, not: { anyOf: conflicts } }
}

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

/** The schema, with references to the shared types. */
function sharing(schema: Schema): Schema {
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const properties = entries.map(([name, property]) => {
    const type = Object.hasOwn(SHARED, name) ? SHARED[name] : undefined
    return [name, type === undefined ? property : described(ref(type), String(property.description))]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}
