/** The operations of one catalog: the general ones with the name of a workflow, or of its handler, and its types. */
import { percentEncode } from '../../../lib/percent-encode.ts'
import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../../protocol/catalog.ts'
import { handlerNameIssue, workflowNameIssue } from '../../../protocol/names.ts'
import { linkToWorkflow } from '../links.ts'
import type { OpenApiDocument, OperationObject } from '../open-api-document.ts'
import { described, ref, type Schema } from '../schemas/schema.ts'
import { workflowResult } from '../schemas/workflow-result.ts'
import { createIdentifiers, identifiersOf } from './identifiers.ts'
import { NOTHING, type Publication, publishSchema } from './published-schema.ts'
import { sharesBySize } from './shares-by-size.ts'

// Each takes some two kilobytes.
const MAX_OPERATIONS = 2000

// In units of about 50 ns, which makes 0.4 s. The largest catalog, of 2 MB, takes that if most of it is references.
const BUDGET = 8_000_000

type Kind = 'run' | 'start' | 'signal' | 'query' | 'update'

/** What is added to the document. */
export interface CatalogOperations {
  paths: OpenApiDocument['paths']
  schemas: Record<string, Schema>
  /** How many operations were left out. */
  omitted: number
}

export interface GeneralOperations {
  /** The general operation for each kind, as the document has it. */
  of(kind: Kind): OperationObject
  operationIds: readonly string[]
  /** What generators make types of. */
  typeNames: readonly string[]
}

export interface TypedCatalog {
  workflows: readonly CatalogEntry[]
  /** Otherwise the schemas of inputs require fields that have defaults, and arguments may be left out. */
  inputsChecked: boolean
  /** Which catalog starts must name; null for the default of the service. */
  named: string | null
}

interface Typed {
  kind: Kind
  workflow: string
  handler: string | null
  entry: HandlerEntry
}

export async function catalogOperations(
  { workflows, named, inputsChecked }: TypedCatalog,
  general: GeneralOperations,
): Promise<CatalogOperations> {
  const all = workflows.filter(({ name }) => workflowNameIssue(name) === null).flatMap(typedOf)
  const shown = uniqueByPath(all).slice(0, MAX_OPERATIONS)
  const keys = shown.map(({ kind, workflow, handler }) => [kind, workflow, ...(handler === null ? [] : [handler])])
  const ids = await identifiersOf(keys, general.operationIds)
  const schemas: Record<string, Schema> = {}
  const publication: Publication = {
    identifiers: createIdentifiers(general.typeNames),
    components: schemas,
    budgetOf: sharesBySize(BUDGET, publishedSchemas(shown)),
    requiresDefaults: true,
  }
  const names = await schemaNames(shown, general.typeNames)
  const types = new Map<HandlerEntry, Types>()
  const links = handlerLinks(shown.map((typed, at) => ({ ...typed, id: ids.get(keys[at] ?? []) ?? '' })))
  const paths = shown.map((typed, at): [string, { post: OperationObject }] => {
    const id = ids.get(keys[at] ?? []) ?? ''
    const name = names.get(typed.entry) ?? id
    const known = types.get(typed.entry) ?? publishTypes(typed, { name, catalog: named, inputsChecked }, publication)
    types.set(typed.entry, known)
    const isRequired = isBodyRequired(typed, inputsChecked)
    const operation = operationOf({ ...typed, isRequired }, id, known, general.of(typed.kind))
    const ownLinks = typed.handler === null ? links.get(typed.workflow) : undefined
    return [pathOf(typed), { post: { ...operation, responses: relink(operation.responses, ownLinks) } }]
  })
  return { paths: Object.fromEntries(paths), schemas, omitted: all.length - shown.length }
}

function typedOf(entry: CatalogEntry): Typed[] {
  const workflow = entry.name
  const own = (['run', 'start'] as const).map((kind) => ({ kind, workflow, handler: null, entry }))
  const ofKind = (kind: Kind, handlers: readonly HandlerEntry[]) =>
    handlers
      .filter(({ name }) => isSendable(name))
      .map((handler) => ({ kind, workflow, handler: handler.name, entry: handler }))
  return [
    ...own,
    ...ofKind('signal', entry.signals),
    ...ofKind('query', entry.queries),
    ...ofKind('update', entry.updates),
  ]
}

/** By workflow: links from its starts to its handlers. */
function handlerLinks(all: readonly (Typed & { id: string })[]): Map<string, Record<string, object>> {
  const links = new Map<string, Record<string, object>>()
  for (const { workflow, handler, id } of all)
    if (handler !== null) links.set(workflow, Object.assign(links.get(workflow) ?? {}, { [id]: linkToWorkflow(id) }))
  return links
}

/** The responses with these links instead of the general ones, of which typed operations have none. */
function relink(responses: OperationObject['responses'], links: object | undefined): OperationObject['responses'] {
  const entries = Object.entries(responses).map(([status, response]): [string, object] => {
    if (!('links' in response)) return [status, response]
    const { links: _, ...others } = response
    return [status, { ...others, ...(links && { links }) }]
  })
  return Object.fromEntries(entries)
}

/** URLs cannot contain `.` and `..` as a segment. */
function isSendable(name: string): boolean {
  return handlerNameIssue(name) === null && name !== '.' && name !== '..'
}

/** The first of several with the same names. */
function uniqueByPath(all: readonly Typed[]): Typed[] {
  return [...new Map(all.toReversed().map((typed) => [pathOf(typed), typed])).values()].toReversed()
}

/** The fragment distinguishes the paths, and is not sent. */
function pathOf({ kind, workflow, handler }: Typed): string {
  const fragment = percentEncode(workflow)
  return handler === null
    ? `/workflow/${kind}#${fragment}`
    : `/workflow/{id}/${kind}/${percentEncode(handler)}#${fragment}`
}

/** What the schemas of each entry are named after. */
async function schemaNames(shown: readonly Typed[], taken: readonly string[]): Promise<Map<HandlerEntry, string>> {
  const entries = shown.filter(({ kind }) => kind !== 'start')
  const keys = entries.map(({ kind, workflow, handler }) => (handler === null ? [workflow] : [workflow, kind, handler]))
  const names = await identifiersOf(keys, taken)
  return new Map(entries.map(({ entry }, at) => [entry, names.get(keys[at] ?? []) ?? '']))
}

/** The published schemas of what is shown, in this order. */
function publishedSchemas(shown: readonly Typed[]): JsonSchema[] {
  const entries = [...new Set(shown.map(({ entry }) => entry))]
  return entries
    .flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])
    .filter((schema) => schema !== null)
}

/** The schemas of the request and the response. */
interface Types {
  request: Schema
  response: Schema
}

function publishTypes(
  { kind, workflow, entry }: Typed,
  { name, catalog, inputsChecked }: { name: string; catalog: string | null; inputsChecked: boolean },
  publication: Publication,
): Types {
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
  if (kind === 'run' || kind === 'start') {
    return {
      request: add(startRequest({ workflow, catalog }, input, isOptional), 'request'),
      response: add(workflowResult(outputOrNull(output)), 'result'),
    }
  }
  return {
    request: input === null ? ref('MessageRequest') : add(messageRequest(input, isOptional), 'request'),
    response: output ?? { description: "The handler's result; null if it has none" },
  }
}

function mayOmit({ inputOptional }: HandlerEntry, inputsChecked: boolean): boolean {
  return inputOptional === true || !inputsChecked
}

function isBodyRequired({ handler, entry }: Typed, inputsChecked: boolean): boolean {
  return handler === null || (entry.inputSchema !== null && !mayOmit(entry, inputsChecked))
}

function outputOrNull(output: Schema | null): Schema {
  return {
    description: 'What the workflow returned; null unless `status` is `completed`',
    ...(output !== null && { anyOf: [output, { type: 'null' }] }),
  }
}

function startRequest(
  { workflow, catalog }: { workflow: string; catalog: string | null },
  input: Schema | null,
  isOptional: boolean,
): Schema {
  const names = {
    workflowName: { type: 'string', const: workflow },
    // openapi-python-client cannot merge a `const` with the string in `StartOptions`.
    ...(catalog !== null && { catalog: { type: 'string', enum: [catalog] } }),
  }
  const named = { type: 'object', ...argumentsOf(input, isOptional, names) }
  return { allOf: [ref('StartOptions'), named], unevaluatedProperties: false }
}

const EITHER = { if: { required: ['input'] }, else: { required: ['args'] }, not: { required: ['input', 'args'] } }

function argumentsOf(input: Schema | null, isOptional: boolean, names: Record<string, Schema>): Schema {
  const required = Object.keys(names)
  if (input === null)
    return { properties: { ...names, input: {}, args: { type: 'array', items: {} } }, required, ...EITHER }
  if (input === NOTHING) {
    const args = { type: 'array', items: {}, maxItems: 0, description: 'The workflow takes no argument' }
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

// The name of the handler is a part of the path. The others request responses without the value.
const NOT_TYPED = ['handlerName', 'Prefer', 'Last-Event-ID'].map((name) => `#/components/parameters/${name}`)

const VERBS = { run: 'Run', start: 'Start', signal: 'Send signal', query: 'Send query', update: 'Send update' } as const

function operationOf(
  { kind, workflow, handler, entry, isRequired }: Typed & { isRequired: boolean },
  operationId: string,
  { request, response }: Types,
  { parameters, responses, 'x-errors': errors }: OperationObject,
): OperationObject {
  const summary = handler === null ? `${VERBS[kind]} ${workflow}` : `${VERBS[kind]} ${handler} to ${workflow}`
  const isTyped = kind !== 'start' && kind !== 'signal'
  return {
    operationId,
    tags: ['Workflows'],
    summary,
    ...(entry.description !== null && { description: entry.description }),
    parameters: parameters.filter((parameter) => !NOT_TYPED.includes(String(Reflect.get(parameter, '$ref')))),
    requestBody: {
      required: isRequired,
      content: { 'application/json': { schema: request } },
    },
    responses: {
      ...withValue(responses),
      200: isTyped ? withContent(responses[200], response) : withoutExamples(responses[200]),
    },
    'x-errors': errors,
  }
}

/**
 * The responses without those that have another value than the workflow's or the handler's.
 * A client would have to tell them apart.
 */
function withValue({ 202: _, 204: __, ...responses }: OperationObject['responses']): OperationObject['responses'] {
  return responses
}

function withContent(response: object | undefined, schema: Schema): object {
  return { ...response, content: { 'application/json': { schema } } }
}

function withoutExamples(response: object | undefined): object {
  const content: unknown = Reflect.get(response ?? {}, 'content')
  const json: unknown = Reflect.get(Object(content), 'application/json')
  return withContent(response, Reflect.get(Object(json), 'schema'))
}
