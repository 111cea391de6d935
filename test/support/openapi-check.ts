/** Compares responses with the OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../../src/service/http/openapi/open-api-document.ts'
import { generalDocument } from '../../src/service/openapi/general-document.ts'

const DOCUMENT: OpenApiDocument = JSON.parse(JSON.stringify(await generalDocument()))

export interface CheckedResponse {
  status: number
  headers: Headers
  text: string
}

/** Headers of the connection, of CORS, and of responses in general. */
const GENERAL_HEADERS =
  /^(?:content-(?:type|length)|date|connection|keep-alive|transfer-encoding|vary|server|access-control-.*)$/

/** What the response has that the document does not describe. */
export function undocumentedIn(method: string, path: string, response: CheckedResponse): string[] {
  const template = templateOf(path)
  const operation = template === null ? undefined : DOCUMENT.paths[template]?.[toDocumented(method)]
  if (template === null || operation === undefined) return []
  const where = `${method} ${template} ${response.status}`
  // A request outside the base path.
  if (response.status === 404 && response.text.includes('"NotFoundError"')) return []
  const documented = dereferenced(operation.responses[response.status])
  if (documented === null) return [`${where} is not documented`]
  const headers = [...response.headers.keys()].filter((name) => !GENERAL_HEADERS.test(name))
  const known = new Set(Object.keys(documented.headers ?? {}).map((name) => name.toLowerCase()))
  return [
    ...headers.filter((name) => !known.has(name)).map((name) => `${where}: header ${name} is not documented`),
    ...(method === 'HEAD' ? [] : bodyIssues(where, operation['x-errors'], documented, response)),
  ]
}

interface DocumentedResponse {
  headers?: Record<string, unknown>
  content?: Record<string, { schema: object; 'x-events'?: Record<string, object> }>
}

function toDocumented(method: string): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase()
}

function bodyIssues(
  where: string,
  errors: unknown,
  { content = {} }: DocumentedResponse,
  { headers, text }: CheckedResponse,
): string[] {
  // The output alone, of which only its JSON is known: `?body=output` is not a parameter of the operation.
  if (headers.has('Portico-Run-Id')) return JSON.parse(text) === undefined ? [`${where} has no body`] : []
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';')
  if (type === '') return Object.keys(content).length === 0 ? [] : [`${where} has no body`]
  const documented = content[type]
  if (documented === undefined) return [`${where}: ${type} is not documented`]
  const ofLines = LINES.get(type)
  if (ofLines !== undefined) return ofLines(where, documented, text)
  if (!type.endsWith('json')) return []
  const body: unknown = JSON.parse(text)
  const error = type === 'application/problem+json' ? Reflect.get(Object(body), 'error') : undefined
  const isListed = error === undefined || (Array.isArray(errors) && errors.includes(error))
  return [...issues(where, documented.schema, body), ...(isListed ? [] : [`${where}: ${error} is not documented`])]
}

type IssuesOf = (
  where: string,
  documented: { schema: object; 'x-events'?: Record<string, object> },
  text: string,
) => string[]

const LINES = new Map<string, IssuesOf>([
  ['text/event-stream', (where, documented, text) => eventIssues(where, documented['x-events'] ?? {}, text)],
  ['application/x-ndjson', (where, { schema }, text) => lineIssues(where, schema, text)],
])

function lineIssues(where: string, schema: object, text: string): string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : issues(where, schema, JSON.parse(line))))
}

function eventIssues(where: string, events: Record<string, object>, text: string): string[] {
  return [...text.matchAll(/^event: (.+)\ndata: (.+)$/gm)].flatMap(([, name = '', data = '']) => {
    const schema = events[name]
    return schema === undefined
      ? [`${where}: event ${name} is not documented`]
      : issues(`${where} ${name}`, schema, JSON.parse(data))
  })
}

/** What is wrong with a value, according to a schema that refers to components of the document. */
export function issues(where: string, schema: object, value: unknown): string[] {
  const { ajv, validators } = shared()
  const key = JSON.stringify(schema)
  const validate =
    validators.get(key) ?? ajv.compile({ $id: `https://portico.test/${validators.size}`, ...absolute(schema) })
  validators.set(key, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${where}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

const DOCUMENT_ID = 'https://portico.test/openapi.json'

/** With references to the document. */
function absolute<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT_ID}#/`))
}

interface Shared {
  ajv: Ajv2020
  validators: Map<string, ValidateFunction>
}

let created: Shared | null = null

function shared(): Shared {
  if (created !== null) return created
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const closed = Object.fromEntries(
    Object.entries(DOCUMENT.components.schemas).map(([name, schema]) => [name, close(schema)]),
  )
  ajv.addSchema({ $id: DOCUMENT_ID, components: { schemas: closed } })
  created = { ajv, validators: new Map() }
  return created
}

/** The same schema without properties that it does not list: the service must not return them. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, value]) => [key, close(value)])
  const isOpen = 'properties' in schema && !('additionalProperties' in schema) && 'type' in schema
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) }
}

function dereferenced(response: object | undefined): DocumentedResponse | null {
  if (response === undefined) return null
  const reference: unknown = Reflect.get(response, '$ref')
  if (typeof reference !== 'string') return response
  const responses = Object(DOCUMENT.components.responses)
  return Reflect.get(responses, reference.split('/').at(-1) ?? '') ?? null
}

/** The path of the document that a request matches, static segments first; null if none does. */
function templateOf(path: string): string | null {
  const [bare = ''] = path.split(/[?#]/)
  const matching = Object.keys(DOCUMENT.paths).filter((template) =>
    new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(bare),
  )
  const fixed = (template: string) => `${template}{`.indexOf('{')
  return matching.toSorted((a, b) => fixed(b) - fixed(a))[0] ?? null
}
