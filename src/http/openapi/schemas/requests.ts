/** The bodies of requests, from the schemas that validate them. */
import { controlRequest, resetRequest } from '../../routes/control.ts'
import { messageRequest } from '../../routes/message.ts'
import { startRequest } from '../../routes/start/start.ts'
import { withStartRequests } from '../../routes/start/with-start.ts'
import { toJsonSchema } from '../to-json-schema.ts'
import { described, ref, type Schema } from './schema.ts'

/** The default of `SERVICE_RUN_MAX_TIMEOUT`. The document of a service has its own maximum. */
export const MAX_TIMEOUT_MS = 86_400_000

export function requestSchemas(): Record<string, Schema> {
  const start = toJsonSchema(startRequest(MAX_TIMEOUT_MS))
  const { signalRequest, updateRequest } = withStartRequests(MAX_TIMEOUT_MS)
  return {
    StartRequest: explained(sharing(start), START),
    StartOptions: startOptions(explained(sharing(start), START)),
    SignalWithStartRequest: explained(sharing(toJsonSchema(signalRequest)), WITH_START),
    UpdateWithStartRequest: explained(sharing(toJsonSchema(updateRequest)), WITH_START),
    ...sharedTypes(start),
    MessageRequest: explained(sharing(toJsonSchema(messageRequest)), MESSAGE),
    ControlRequest: explained(toJsonSchema(controlRequest), { reason: 'Recorded in the history' }),
    ResetRequest: explained(toJsonSchema(resetRequest), {
      stepName: 'Name of an activity: the run is reset to the last completed step of that name',
      eventId: 'Instead of `stepName`: the id of an event of the history, which is kept',
      reason: 'Recorded in the history',
    }),
  }
}

/** What a start has besides the name of the workflow and its arguments. */
function startOptions({ properties, not }: Schema): Schema {
  const { workflowName: _, input: __, args: ___, ...options } = properties as Record<string, Schema>
  const { anyOf } = not as { anyOf: readonly { required: readonly string[] }[] }
  const conflicts = anyOf.filter(({ required }) => required.every((name) => Object.hasOwn(options, name)))
  return { type: 'object', properties: options, not: { anyOf: conflicts } }
}

/**
 * Fields that several requests have, with the names of their types:
 * otherwise generators make new ones for each request.
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
  const fields = Object.entries(SHARED).map(([field, name]) => [name, (properties as Record<string, Schema>)[field]])
  return Object.fromEntries(fields)
}

/** The schema with references to the shared types. */
function sharing(schema: Schema): Schema {
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const properties = entries.map(([name, property]) => {
    const type = Object.hasOwn(SHARED, name) ? SHARED[name] : undefined
    return [name, type === undefined ? property : ref(type)]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** The schema with a description of each property. */
export function explained(schema: Schema, descriptions: Readonly<Record<string, string>>): Schema {
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const properties = entries.map(([name, property]) => [name, described(property, descriptions[name] ?? '')])
  return { ...schema, properties: Object.fromEntries(properties) }
}

const OPTIONS = {
  memo: 'Values by name, stored with the run',
  searchAttributes: 'Search attributes by name: a value of the registered type, or a value with its type',
  headers: 'Temporal headers: JSON values by name',
  startDelay: 'Time until the first workflow task: milliseconds, or a duration such as `30s`',
  executionTimeout: 'Limit for the whole chain of runs: milliseconds, or a duration such as `30s`',
  runTimeout: 'Limit for each run: milliseconds, or a duration such as `30s`',
  taskTimeout: 'Limit for a workflow task: milliseconds, or a duration such as `30s`',
  retry: 'Retry policy of the workflow',
  cronSchedule: 'Such as `0 12 * * *` or `@every 1h`. Such a workflow never ends',
  workflowIdConflictPolicy: 'What to do if a run of `workflowId` is open',
  workflowIdReusePolicy: 'Whether the id of a closed run can be used again. Default `allow-duplicate`',
  priority: 'Priority of the tasks: 1 is the most urgent `priorityKey`',
  versioningOverride: 'The version of the workers: `auto-upgrade` or a pinned one',
  summary: "Text for people, which Temporal's web UI shows",
  details: "Longer text for people, which Temporal's web UI shows",
}

const START = {
  workflowName: 'Name of the workflow, or one of its aliases',
  input: "The workflow's only argument. Exactly one of `input` and `args` is required",
  args: 'Instead of `input`: one element per argument; `[]` for none',
  workflowId: 'Id of the workflow. At most 1000 bytes of UTF-8. Default: a generated id',
  catalog: 'Task queue of the workers that execute the workflow. Default: that of the service',
  taskQueue: 'Deprecated name of `catalog`, which takes precedence',
  timeout: 'How long to wait for the result: milliseconds, or a duration such as `30s`. Default 30 s',
  ...OPTIONS,
}

const WITH_START = {
  ...START,
  input: "The workflow's only argument. Exactly one of `input` and `startArgs` is required",
  startArgs: 'Instead of `input`: one element per argument of the workflow; `[]` for none',
  payload: "The handler's only argument",
  args: 'Instead of `payload`: one element per argument of the handler',
}

const MESSAGE = {
  payload: "The handler's only argument. Without `payload` and `args` there is none",
  args: 'Instead of `payload`: one element per argument',
  headers: 'Temporal headers: JSON values by name',
}
