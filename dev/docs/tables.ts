/** Tables of fields, parameters, headers and errors, made of the OpenAPI document. */

import type { OpenApiDocument } from '../../src/service/http/openapi/open-api-document.ts'
import type { Schema } from '../../src/service/http/openapi/schema.ts'
import { NAMES_BY_STATUS } from '../../src/service/openapi/schemas/problems.ts'
import { PLACES, type Place } from './temporal-client.ts'
import { typeOf } from './type-of.ts'

/** A table of the document; `up` leads from the page to `docs/`. */
export type Table = (document: OpenApiDocument, names: string[], up: string) => string[]

interface Operation {
  method: string
  path: string
  operationId: string
  summary: string
  externalDocs: { url: string }
  parameters: { name: string; in: string; description?: string; schema: Schema }[]
  headers: string[]
  statuses: string[]
  errors: string[]
  hasBody: boolean
}

/** The fields of a schema: all, or those with these names. */
export const fieldTable: Table = (document, [schemaName = '', ...names]) => {
  const { properties = {}, required = [] } = schemaOf(document, schemaName)
  const shown = names.length === 0 ? Object.keys(properties) : names
  const isRequest = schemaName.endsWith('Request')
  return [
    ...head('Field', 'Type', 'Description'),
    ...shown.map((name) => {
      const schema = properties[name]
      if (schema === undefined) throw new Error(`${schemaName} has no field ${name}`)
      return row(
        `\`${name}\``,
        typeOf(document, schema),
        describe(document, schema, isRequest && required.includes(name)),
      )
    }),
  ]
}

/** The query parameters of an operation. */
export const parameterTable: Table = (document, [operationId = '']) => {
  const { parameters } = operationOf(document, operationId)
  return [
    ...head('Parameter', 'Type', 'Description'),
    ...parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, schema, description }) =>
        row(`\`${name}\``, typeOf(document, schema), describe(document, { ...schema, description }, false)),
      ),
  ]
}

/** Headers and errors of each operation, without those of any request. A column that says nothing is left out. */
export const endpointTable: Table = (document, operationIds, up) => {
  const common = GROUPS.map((group) => ({ ...group, errors: commonErrors(document, group) }))
  const columns = ['Request', 'Headers', 'Responses', 'Response headers', `[More errors](${up}errors.md#any-request)`]
  const rows = operationIds.map((id) => {
    const operation = operationOf(document, id)
    const { method, path, parameters, headers, statuses } = operation
    const known = new Set(common.flatMap(({ has, errors }, at) => (at === 0 || has(operation) ? errors : [])))
    const sent = parameters.filter((parameter) => parameter.in === 'header' && !OF_ANY_REQUEST.has(parameter.name))
    return [
      `\`${method} ${path}\``,
      codes(sent.map(({ name }) => name)),
      statuses.join(', '),
      codes(headers.filter((name) => !OF_ANY_REQUEST.has(name))),
      links(
        operation.errors.filter((name) => !known.has(name)),
        `${up}errors.md`,
      ),
    ]
  })
  const isShown = (_: string, at: number) => rows.some((cells) => cells[at] !== '' && cells[at] !== '200')
  return [...head(...columns.filter(isShown)), ...rows.map((cells) => row(...cells.filter(isShown)))]
}

/** All operations, each with a link to its section. */
export const endpointList: Table = (document) =>
  operationsOf(document)
    .filter(({ path }) => !path.includes('/runs/:rid') && path !== '/docs/:file')
    .map((operation) => `- ${linkTo(operation)}: ${operation.summary}`)

function linkTo({ method, path, externalDocs }: Operation): string {
  return `[\`${method} ${path}\`](${externalDocs.url.split('/docs/')[1]})`
}

/** All errors, by status. */
export const errorTable: Table = () =>
  [...NAMES_BY_STATUS]
    .toSorted(([one], [other]) => one - other)
    .map(([status, names]) => `- **${status}:** ${links([...names], '')}`)

/** The methods of Temporal's client; those with the same place are one row. */
export const clientTable: Table = (document) => [
  ...head('Method', 'Over HTTP'),
  ...Object.entries(PLACES).flatMap(([type, places]) =>
    [...Map.groupBy(Object.entries(places), ([, place]) => place)].map(([place, methods]) =>
      row(`${type}: ${codes(methods.map(([method]) => method))}`, placeOf(document, place)),
    ),
  ),
]

function placeOf(document: OpenApiDocument, place: Place): string {
  if (typeof place === 'string') return place
  const routes = place.operations.map((id) => linkTo(operationOf(document, id)))
  return [routes.join(', '), place.how ?? ''].join(' ').trim()
}

/** What has errors in common. */
const GROUPS: { name: string; has: (operation: Operation) => boolean }[] = [
  {
    name: 'Any request on workflows',
    // A bulk answers with the errors of its lines.
    has: ({ path }) => path.startsWith('/workflow/') && path !== '/workflow/bulk',
  },
  { name: 'About a run', has: ({ path }) => path.startsWith('/workflow/:id/') },
  { name: 'With a body', has: ({ hasBody }) => hasBody },
]

/** The errors that every operation of a group has, each in the first group that has it. */
export const errorsOfAny: Table = (document) => {
  const listed = new Set<string>()
  return GROUPS.map((group) => {
    const names = commonErrors(document, group).filter((name) => !listed.has(name))
    for (const name of names) listed.add(name)
    return `- **${group.name}:** ${links(names, '')}`
  })
}

/** They are described once, in `docs/api.md`. */
const OF_ANY_REQUEST = new Set(['X-Request-Id', 'Deprecation', 'Sunset', 'Link', 'Cache-Control', 'X-Accel-Buffering'])

function commonErrors(document: OpenApiDocument, { has }: { has: (operation: Operation) => boolean }): string[] {
  const [first, ...others] = operationsOf(document).filter(has)
  return (first?.errors ?? []).filter((name) => others.every(({ errors }) => errors.includes(name)))
}

function operationOf(document: OpenApiDocument, operationId: string): Operation {
  const operation = operationsOf(document).find((one) => one.operationId === operationId)
  if (operation === undefined) throw new Error(`There is no operation ${operationId}`)
  return operation
}

function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { operationId, summary, externalDocs, parameters, responses, ...more } = Object(operation)
      const succeeded = Object.entries<{ headers?: object }>(responses).filter(([status]) => Number(status) < 400)
      return {
        method: method.toUpperCase(),
        path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
        operationId,
        summary,
        externalDocs,
        parameters: parameters.map((parameter: Schema) => resolve(document, parameter)),
        headers: [...new Set(succeeded.flatMap(([, { headers = {} }]) => Object.keys(headers)))],
        statuses: succeeded.map(([status]) => status),
        errors: more['x-errors'],
        hasBody: more.requestBody !== undefined,
      }
    }),
  )
}

function schemaOf(
  document: OpenApiDocument,
  name: string,
): { properties?: Record<string, Schema>; required?: string[] } {
  const schema = document.components.schemas[name]
  if (schema === undefined) throw new Error(`There is no schema ${name}`)
  return schema
}

function describe(document: OpenApiDocument, schema: Schema, isRequired: boolean): string {
  const own = schema.description ?? resolve(document, schema).description ?? ''
  // The type says so.
  const text = String(own).replace(/:? milliseconds, or a duration such as `\w+`/, '')
  return `${isRequired ? 'Required. ' : ''}${text}`.replace(/ $/, '')
}

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  if (typeof schema.$ref !== 'string') return schema
  return schema.$ref
    .split('/')
    .slice(1)
    .reduce<Schema>((at, key) => Object(at[key]), document)
}

export function head(...names: string[]): string[] {
  return [row(...names), `|${'---|'.repeat(names.length)}`]
}

export function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function codes(names: string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

function links(names: string[], page: string): string {
  return names.map((name) => `[\`${name}\`](${page}#${name.toLowerCase()})`).join(', ')
}
