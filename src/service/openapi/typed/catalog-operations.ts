/**
 * The operations of one catalog: general operations, typed for a workflow, one of its handlers, or an activity. First
 * all identifiers are chosen, then the published schemas become components, then the operations refer to both.
 */

import { createIdentifiers, identify } from '../../../shared/json-schema/published/identifiers.ts'
import { type PublishTarget, sharesBySize } from '../../../shared/json-schema/published/published-schema.ts'
import { percentEncode } from '../../../shared/lib/percent-encode.ts'
import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../../shared/wire/catalog.ts'
import { handlerNameIssue, workflowNameIssue } from '../../../shared/wire/names.ts'
import type { OpenApiDocument, OperationObject, ResponseObject } from '../../http/openapi/open-api-document.ts'
import type { Schema } from '../../http/openapi/schema.ts'
import { linkToWorkflow } from '../links.ts'
import {
  GENERAL_PATHS,
  isActivity,
  isBodyRequired,
  type OperationKind,
  publishTypes,
  type Typed,
  type Types,
} from './operation-types.ts'
import { type EntryExamples, examplesOfEntry, requestExample, responseExample } from './typed-examples.ts'

// Each operation takes about two kilobytes.
const MAX_OPERATIONS = 2000

// 0.4 s, in units of about 50 ns. A catalog of the maximum size, 2 MB, takes this if most of it is references.
const BUDGET = 8_000_000

// The budget for the examples: another 0.1 s.
const EXAMPLES_BUDGET = 2_000_000

/** What is added to the document. */
export interface CatalogOperations {
  paths: OpenApiDocument['paths']
  schemas: Record<string, Schema>
  /** How many operations were left out. */
  omitted: number
}

export interface GeneralOperations {
  /** The general operation for each kind, as the document has it. */
  of(kind: OperationKind): OperationObject
  operationIds: readonly string[]
  /** The names that generators make types of. */
  typeNames: readonly string[]
}

export interface TypedCatalog {
  workflows: readonly CatalogEntry[]
  activities: readonly HandlerEntry[]
  /** If false, input schemas require fields that have defaults, although requests may leave them out. */
  inputsChecked: boolean
  /** The catalog that starts must name; null for the default of the service. */
  named: string | null
}

export async function catalogOperations(
  { workflows, activities, named, inputsChecked }: TypedCatalog,
  general: GeneralOperations,
): Promise<CatalogOperations> {
  const isValid = ({ name }: HandlerEntry) => workflowNameIssue(name) === null
  const all = [...workflows.filter(isValid).flatMap(typedOf), ...activities.filter(isValid).flatMap(typedActivity)]
  const rows = await toRows(uniqueByPath(all).slice(0, MAX_OPERATIONS), general)
  const published = publishedSchemas(rows)
  const schemas: Record<string, Schema> = {}
  const publication: PublishTarget = {
    identifiers: createIdentifiers(general.typeNames),
    components: schemas,
    refPrefix: '#/components/schemas/',
    budgetOf: sharesBySize(BUDGET, published),
    requiresDefaults: true,
  }
  const exampleBudgetOf = sharesBySize(EXAMPLES_BUDGET, published)
  // `run` and `start` of a workflow share its types.
  const types = new Map<HandlerEntry, Types & { examples: EntryExamples }>()
  const typesOf = (row: Row) => {
    const naming = { name: row.typeName, catalog: named, inputsChecked }
    const own = types.get(row.entry) ?? {
      ...publishTypes(row, naming, publication),
      examples: examplesOfEntry(row.entry, exampleBudgetOf),
    }
    types.set(row.entry, own)
    return own
  }
  const links = handlerLinks(rows)
  const paths = rows.map((row): [string, { post: OperationObject }] => {
    const { examples, ...schemasOfRow } = typesOf(row)
    const bodies = {
      ...schemasOfRow,
      isRequired: isBodyRequired(row, inputsChecked),
      requestExample: requestExample(row, examples, named),
      responseExample: responseExample(row, examples),
    }
    const operation = operationOf(row, bodies, general.of(row.kind))
    const ownLinks = row.handler === null && !isActivity(row) ? links.get(row.type) : undefined
    return [pathOf(row), { post: { ...operation, responses: relink(operation.responses, ownLinks) } }]
  })
  return { paths: Object.fromEntries(paths), schemas, omitted: all.length - rows.length }
}

/** An operation with the identifiers that generators use. */
interface Row extends Typed {
  id: string
  /** The names of its schemas begin with it. */
  typeName: string
}

async function toRows(shown: readonly Typed[], { operationIds, typeNames }: GeneralOperations): Promise<Row[]> {
  const namesOf = (typed: Typed) => {
    const { kind, type, handler } = typed
    if (isActivity(typed)) return [kind.replace('Activity', ''), 'activity', type]
    return [kind, type, ...(handler === null ? [] : [handler])]
  }
  const typeNamesOf = (typed: Typed) => {
    const { kind, type, handler } = typed
    if (isActivity(typed)) return ['activity', type]
    return handler === null ? [type] : [type, kind, handler]
  }
  const withTypes = shown.filter(({ kind }) => kind !== 'start' && kind !== 'startActivity')
  const named = await identify(withTypes, typeNamesOf, typeNames)
  const typeNameOf = new Map(named.map(({ item, identifier }) => [item.entry, identifier]))
  const identified = await identify(shown, namesOf, operationIds)
  return identified.map(({ item, identifier: id }) => ({ ...item, id, typeName: typeNameOf.get(item.entry) ?? id }))
}

function typedOf(entry: CatalogEntry): Typed[] {
  const type = entry.name
  const own = (['run', 'start'] as const).map((kind) => ({ kind, type, handler: null, entry }))
  const ofKind = (kind: OperationKind, handlers: readonly HandlerEntry[]) =>
    handlers
      .filter(({ name }) => isSendable(name))
      .map((handler) => ({ kind, type, handler: handler.name, entry: handler }))
  return [
    ...own,
    ...ofKind('signal', entry.signals),
    ...ofKind('query', entry.queries),
    ...ofKind('update', entry.updates),
  ]
}

function typedActivity(entry: HandlerEntry): Typed[] {
  const kinds = ['runActivity', 'startActivity'] as const
  return kinds.map((kind) => ({ kind, type: entry.name, handler: null, entry }))
}

/** By workflow: links from its starts to its handlers. */
function handlerLinks(rows: readonly Row[]): Map<string, Record<string, object>> {
  const links = new Map<string, Record<string, object>>()
  for (const { type, handler, id } of rows)
    if (handler !== null) links.set(type, Object.assign(links.get(type) ?? {}, { [id]: linkToWorkflow(id) }))
  return links
}

/** The responses with these links instead of the links of the general operation. */
function relink(responses: OperationObject['responses'], links: object | undefined): OperationObject['responses'] {
  const entries = Object.entries(responses).map(([status, { links: general, ...others }]) => {
    return [status, { ...others, ...(general && links && { links }) }]
  })
  return Object.fromEntries(entries)
}

/** URLs cannot contain `.` and `..` as a segment. */
function isSendable(name: string): boolean {
  return handlerNameIssue(name) === null && name !== '.' && name !== '..'
}

/** Of several operations with the same path, only the first one. */
function uniqueByPath(all: readonly Typed[]): Typed[] {
  return [...new Map(all.toReversed().map((typed) => [pathOf(typed), typed])).values()].toReversed()
}

/** The path of the operation. Its fragment makes it unique, and is not sent. */
function pathOf({ kind, type, handler }: Typed): string {
  const path = GENERAL_PATHS[kind].replace('{name}', () => percentEncode(handler ?? ''))
  return `${path}#${percentEncode(type)}`
}

/** The published schemas of the operations, in the same order. */
function publishedSchemas(shown: readonly Typed[]): JsonSchema[] {
  const entries = [...new Set(shown.map(({ entry }) => entry))]
  return entries
    .flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])
    .filter((schema) => schema !== null)
}

// Parameters that typed operations do not have: the handler's name is in their path, and the others lead to responses
// without a typed value.
const NOT_TYPED = ['handlerName', 'Prefer', 'Last-Event-ID'].map((name) => `#/components/parameters/${name}`)

const VERBS: Readonly<Record<OperationKind, string>> = {
  run: 'Run',
  start: 'Start',
  signal: 'Send signal',
  query: 'Send query',
  update: 'Send update',
  runActivity: 'Run activity',
  startActivity: 'Start activity',
}

/** The bodies of an operation. */
interface Bodies extends Types {
  isRequired: boolean
  /** Undefined without an example. */
  requestExample: unknown
  responseExample: unknown
}

function operationOf(
  row: Row,
  { request, response, isRequired, requestExample, responseExample }: Bodies,
  { parameters, responses, 'x-errors': errors }: OperationObject,
): OperationObject {
  const { kind, type, handler, entry, id } = row
  const summary = handler === null ? `${VERBS[kind]} ${type}` : `${VERBS[kind]} ${handler} to ${type}`
  const isTyped = !['start', 'signal', 'startActivity'].includes(kind)
  return {
    operationId: id,
    tags: [isActivity(row) ? 'Activities' : 'Workflows'],
    summary,
    ...(entry.description !== null && { description: entry.description }),
    parameters: parameters.filter(({ $ref = '' }) => !NOT_TYPED.includes($ref)),
    requestBody: {
      required: isRequired,
      content: { 'application/json': withExample(request, requestExample) },
    },
    responses: {
      ...withValue(responses),
      200: withContent(responses[200], isTyped ? response : generalSchema(responses), responseExample),
    },
    'x-errors': errors,
  }
}

/**
 * The responses that have the value of the workflow or the handler: with a 202 or 204, a client would have to
 * distinguish several types.
 */
function withValue({ 202: _, 204: __, ...responses }: OperationObject['responses']): OperationObject['responses'] {
  return responses
}

function withContent(response: ResponseObject | undefined, schema: Schema, example: unknown): ResponseObject {
  return { ...response, content: { 'application/json': withExample(schema, example) } }
}

function withExample(schema: Schema, example: unknown): { schema: Schema } {
  return { schema, ...(example !== undefined && { example }) }
}

function generalSchema({ 200: success }: OperationObject['responses']): Schema {
  return success?.content?.['application/json']?.schema ?? {}
}
