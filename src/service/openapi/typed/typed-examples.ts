/** The examples of typed operations: valid requests, and short responses. */
import type { Budget } from '../../../shared/json-schema/check.ts'
import { exampleOf } from '../../../shared/json-schema/examples/example.ts'
import { isShallow } from '../../../shared/json-schema/published/schema-keywords.ts'
import type { HandlerEntry, JsonSchema } from '../../../shared/wire/catalog.ts'
import { nameFieldOf, type Typed } from './operation-types.ts'

/** A key is absent if there is no example. */
export interface EntryExamples {
  input?: { value: unknown }
  output?: { value: unknown }
}

// Longer examples would hide the rest of the operation.
const MAX_LENGTH = 4000

/** Values that the schemas of a workflow or of a handler allow. */
export function examplesOfEntry(
  { inputSchema, outputSchema }: HandlerEntry,
  budgetOf: (schema: JsonSchema) => Budget,
): EntryExamples {
  const input = inputSchema === null ? null : validExample(inputSchema, budgetOf)
  const output = outputSchema === null ? null : validExample(outputSchema, budgetOf)
  return { ...(input && { input }), ...(output && { output }) }
}

function validExample(schema: JsonSchema, budgetOf: (schema: JsonSchema) => Budget): { value: unknown } | null {
  const example = exampleOf(schema, budgetOf(schema))
  if (example === null || !example.isValid || !isShallow(example.value)) return null
  return JSON.stringify(example.value).length > MAX_LENGTH ? null : { value: example.value }
}

/** The body of a request; undefined if a valid argument is not known. */
export function requestExample(typed: Typed, { input }: EntryExamples, catalog: string | null): unknown {
  const { type, handler, entry } = typed
  if (handler !== null) {
    if (input !== undefined) return { payload: input.value }
    return needsInput(entry) ? undefined : {}
  }
  const start = { [nameFieldOf(typed)]: type, ...(catalog !== null && { catalog }) }
  if (input !== undefined) return { ...start, input: input.value }
  return needsInput(entry) ? undefined : { ...start, args: [] }
}

/** Whether a request needs an argument, so that it has no example if the argument has none. */
function needsInput({ inputSchema, inputOptional }: HandlerEntry): boolean {
  return inputSchema !== null && inputSchema !== false && inputOptional !== true
}

const ID = 'example-17'
const RUN_ID = { runId: '01a1fc08-1b87-7779-abe7-841de0c7f164' }
const RUN = { workflowId: ID, ...RUN_ID }
const ACTIVITY = { activityId: ID, ...RUN_ID }

/** The body of the response; undefined if a valid result is not known. */
export function responseExample({ kind, handler }: Typed, { input, output }: EntryExamples): unknown {
  const completed = { status: 'completed', input: input?.value ?? null, output: output?.value }
  switch (kind) {
    case 'start':
      return { ...RUN, status: 'running' }
    case 'startActivity':
      return { ...ACTIVITY, status: 'running' }
    case 'signal':
      return { ...RUN, signal: handler, accepted: true }
    case 'run':
      return output && { ...RUN, ...completed, trace: null, error: null, errorDetails: null }
    case 'runActivity':
      return output && { ...ACTIVITY, ...completed, error: null, errorDetails: null }
    default:
      return output?.value
  }
}
