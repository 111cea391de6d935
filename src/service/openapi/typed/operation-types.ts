/** The schemas of the request and the response of a typed operation. */

import { NOTHING, type PublishTarget, publishSchema } from '../../../shared/json-schema/published/published-schema.ts'
import type { HandlerEntry, JsonSchema } from '../../../shared/wire/catalog.ts'
import { pairsOf } from '../../http/endpoints/fields/field-values.ts'
import { described, ref, type Schema } from '../../http/openapi/schema.ts'
import { activityResult } from '../schemas/activities.ts'
import { workflowResult } from '../schemas/workflow-result.ts'

export type OperationKind = keyof typeof GENERAL_PATHS

/** The path of the general operation for each kind. */
export const GENERAL_PATHS = {
  run: '/workflow/run',
  start: '/workflow/start',
  signal: '/workflow/{id}/signal/{name}',
  query: '/workflow/{id}/query/{name}',
  update: '/workflow/{id}/update/{name}',
  runActivity: '/activity/run',
  startActivity: '/activity/start',
}

/** An operation of a workflow, of one of its handlers, or of an activity without a workflow. */
export interface Typed {
  kind: OperationKind
  /** The type of the workflow or the activity. */
  type: string
  handler: string | null
  entry: HandlerEntry
}

/** The schemas of the request and the response. */
export interface Types {
  request: Schema
  response: Schema
}

export function publishTypes(
  typed: Typed,
  { name, catalog, inputsChecked }: { name: string; catalog: string | null; inputsChecked: boolean },
  publication: PublishTarget,
): Types {
  const { handler, entry } = typed
  const { identifiers, components } = publication
  const add = (schema: Schema, suffix: string): Schema => {
    const own = identifiers.take(`${name}_${suffix}`)
    components[own] = schema
    return ref(own)
  }
  const publish = (schema: JsonSchema | null, suffix: string, requiresDefaults = true): Schema | null =>
    schema === null
      ? null
      : publishSchema(schema, identifiers.take(`${name}_${suffix}`), { ...publication, requiresDefaults })
  const input = publish(entry.inputSchema, 'input', inputsChecked)
  const output = publish(entry.outputSchema, 'output')
  const isOptional = mayOmit(entry, inputsChecked)
  if (handler === null) {
    const resultOf = isActivity(typed) ? activityResult : workflowResult
    return {
      request: add(startRequest(typed, catalog, input, isOptional), 'request'),
      response: add(resultOf(outputOrNull(output)), 'result'),
    }
  }
  return {
    request: input === null ? ref('MessageRequest') : add(messageRequest(input, isOptional), 'request'),
    response: output ?? { description: "The handler's result; null if it has none" },
  }
}

export function isActivity({ kind }: Pick<Typed, 'kind'>): boolean {
  return kind === 'runActivity' || kind === 'startActivity'
}

/** The field of a start with the name of what is started. */
export function nameFieldOf(typed: Typed): 'activityName' | 'workflowName' {
  return isActivity(typed) ? 'activityName' : 'workflowName'
}

function mayOmit({ inputOptional }: HandlerEntry, inputsChecked: boolean): boolean {
  return inputOptional === true || !inputsChecked
}

export function isBodyRequired({ handler, entry }: Typed, inputsChecked: boolean): boolean {
  return handler === null || (entry.inputSchema !== null && !mayOmit(entry, inputsChecked))
}

function outputOrNull(output: Schema | null): Schema {
  return {
    description: 'What it returned; null unless `status` is `completed`',
    ...(output !== null && { anyOf: [output, { type: 'null' }] }),
  }
}

function startRequest(typed: Typed, catalog: string | null, input: Schema | null, isOptional: boolean): Schema {
  const names = {
    [nameFieldOf(typed)]: { type: 'string', const: typed.type },
    // openapi-python-client cannot merge a `const` with the string in `StartOptions`.
    ...(catalog !== null && { catalog: { type: 'string', enum: [catalog] } }),
  }
  const named = { type: 'object', ...argumentsOf(input, isOptional, names) }
  const options = isActivity(typed) ? 'StartActivityOptions' : 'StartOptions'
  return { allOf: [ref(options), named], unevaluatedProperties: false }
}

const EITHER = { if: { required: ['input'] }, else: { required: ['args'] }, not: { anyOf: pairsOf(['input', 'args']) } }

function argumentsOf(input: Schema | null, isOptional: boolean, names: Record<string, Schema>): Schema {
  const required = Object.keys(names)
  if (input === null)
    return { properties: { ...names, input: {}, args: { type: 'array', items: {} } }, required, ...EITHER }
  if (input === NOTHING) {
    const args = { type: 'array', items: {}, maxItems: 0, description: 'It takes no argument' }
    return { properties: { ...names, args }, required: [...required, 'args'] }
  }
  if (isOptional) {
    const args = { type: 'array', items: {}, maxItems: 0, description: 'Instead of `input`: no argument' }
    return { properties: { ...names, input: described(input, 'The only argument'), args }, required, ...EITHER }
  }
  const properties = { ...names, input: described(input, 'The only argument') }
  return { properties, required: [...required, 'input'] }
}

function messageRequest(payload: Schema, isOptional: boolean): Schema {
  const properties = {
    payload: described(payload, "The handler's only argument"),
    headers: described(ref('TemporalHeaders'), 'JSON values by name'),
  }
  return { type: 'object', properties, ...(!isOptional && { required: ['payload'] }), additionalProperties: false }
}
