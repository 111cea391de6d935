import { type Endpoint, limited, type SuccessResponse } from '../http/endpoint.ts'
import type { OperationObject } from '../http/openapi/open-api-document.ts'
import { ref, type Schema } from '../http/openapi/schema.ts'
import { docsUrl, PROBLEM_TYPE } from '../http/problem.ts'
import type { ErrorName } from '../model/errors.ts'
import { headerRefs, pathParameters } from './components.ts'
import type { ExampleSource, Examples } from './examples.ts'
import { linkRefs } from './links.ts'
import { statusesOf } from './schemas/problems.ts'
import { MAX_TIMEOUT_MS } from './schemas/requests.ts'
import { zodToJsonSchema } from './to-json-schema.ts'

/** An operation as OpenAPI describes it. */
export function operationOf(endpoint: Endpoint, examples: ExampleSource): OperationObject {
  const { id, tag, summary, docs, description, access } = endpoint
  const isPublic = access === null
  const errors = [...new Set([...ANY_REQUEST, ...(isPublic ? [] : UNAUTHORIZED), ...endpoint.errors])]
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    externalDocs: { url: docsUrl(docs) },
    ...(isPublic && { security: [] }),
    parameters: [...pathParameters(endpoint.path), ...queryParameters(endpoint), ...requestHeaders(endpoint)],
    ...bodyOf(endpoint, examples),
    responses: { ...problemRefs(statusesOf(errors)), ...successResponses(endpoint, examples) },
    'x-errors': errors,
  }
}

/** Errors of any request. */
const ANY_REQUEST: readonly ErrorName[] = [
  'ValidationError',
  'ForbiddenError',
  'RequestTimeoutError',
  'PayloadTooLargeError',
  'InternalError',
]

/** Errors of any request that needs a credential. */
const UNAUTHORIZED = ['UnauthorizedError', 'TooManyRequestsError', 'AuthUnavailableError'] as const

/** References to the error responses. */
function problemRefs(statuses: readonly number[]): Record<string, object> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]))
}

function requestHeaders({ headers = [] }: Endpoint): object[] {
  return ['X-Request-Id', ...headers].map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function queryParameters({ query }: Endpoint): object[] {
  if (query === undefined) return []
  const { properties, required = [] } = zodToJsonSchema(limited(query, MAX_TIMEOUT_MS))
  const described = Object.entries(properties as Record<string, Schema>).filter(([, { hidden }]) => hidden !== true)
  return described.map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...((required as string[]).includes(name) && { required: true }),
    description,
    // The parameters are written `name[key]=value`.
    ...(schema.type === 'object' && { style: 'deepObject', explode: true }),
    schema,
  }))
}

function bodyOf({ body, method, path }: Endpoint, examples: ExampleSource): { requestBody?: object } {
  if (body === undefined) return {}
  const content = mediaType(ref(body.name), examples.requests(method, path))
  if (body.lines !== undefined) {
    const lines = body.lines.map((type) => [type, { schema: ref(body.name) }])
    return { requestBody: { required: body.isRequired, content: Object.fromEntries(lines) } }
  }
  const form = body.acceptsForm ? { 'application/x-www-form-urlencoded': { schema: ref(body.name) } } : {}
  return { requestBody: { required: body.isRequired, content: { 'application/json': content, ...form } } }
}

function successResponses({ method, path, responses }: Endpoint, examples: ExampleSource): Record<string, object> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const content = contentOf(response, examples.responses(method, path, Number(status)))
      const { description, headers = [], links = [], events } = response
      // The endpoint has a form of its own for some errors of this status.
      const isError = Number(status) >= 400
      const problem = isError ? { [PROBLEM_TYPE]: { schema: ref(`Problem${status}`) } } : {}
      const source = isError ? (['Portico-Error-Source'] as const) : []
      const stream = events === undefined ? [] : (['X-Accel-Buffering'] as const)
      return [
        status,
        {
          description,
          headers: headerRefs([...headers, ...source, ...stream]),
          ...(Object.keys(content).length > 0 && { content: { ...content, ...problem } }),
          ...(links.length > 0 && { links: linkRefs(links) }),
        },
      ]
    }),
  )
}

function contentOf(
  { schema, events, lines = {}, text = [] }: SuccessResponse,
  examples: Examples,
): Record<string, object> {
  return {
    ...(schema && { 'application/json': mediaType(schema, examples) }),
    ...(events && { 'text/event-stream': eventStream(events) }),
    ...Object.fromEntries(Object.entries(lines).map(([type, schema]) => [type, { schema }])),
    ...Object.fromEntries(text.map((type) => [type, { schema: { type: 'string' } }])),
  }
}

function mediaType(schema: Schema, examples: Examples): object {
  return { schema, ...(Object.keys(examples).length > 0 && { examples }) }
}

/** OpenAPI 3.1 cannot describe events: `x-events` has the schema of the data of each. */
function eventStream(events: Readonly<Record<string, Schema>>): object {
  const description = `Server-sent events: ${Object.keys(events).join(', ')}`
  return { schema: { type: 'string', description }, 'x-events': events }
}
