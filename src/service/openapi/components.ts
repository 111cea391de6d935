import { DEPRECATION_HEADERS } from '../http/context.ts'
import { REQUEST_HEADERS, RESPONSE_HEADERS, type ResponseHeader } from '../http/openapi/headers.ts'
import { object, ref, type Schema } from '../http/openapi/schema.ts'
import { PATH_PARAMETERS, type PathParameter } from '../http/path-parameters.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import type { ErrorName } from '../model/errors.ts'
import type { ExampleSource, Examples } from './examples.ts'
import { allLinks } from './links.ts'
import { activitySchemas } from './schemas/activities.ts'
import { batchSchemas } from './schemas/batches.ts'
import { NAMES_BY_STATUS, problemSchemas } from './schemas/problems.ts'
import { requestSchemas } from './schemas/requests.ts'
import { resultSchemas } from './schemas/results.ts'
import { runSchemas } from './schemas/runs.ts'
import { scheduleSchemas } from './schemas/schedules.ts'
import { serviceSchemas } from './schemas/service.ts'
import { streamSchemas } from './schemas/stream.ts'
import { runIds } from './schemas/workflow-result.ts'
import { zodToJsonSchema } from './to-json-schema.ts'

/**
 * The components that operations refer to. Generators create a type for each schema, parameter and response, so no two
 * of them have the same name.
 */
export function components(examples: ExampleSource) {
  return {
    schemas: {
      RunIds: object<typeof runIds>(runIds),
      ...requestSchemas(),
      ...resultSchemas,
      ...runSchemas,
      ...scheduleSchemas,
      ...activitySchemas,
      ...batchSchemas,
      ...streamSchemas,
      ...serviceSchemas,
      ...problemSchemas,
    } as Record<string, Schema>,
    parameters: parameters(),
    headers: RESPONSE_HEADERS,
    links: allLinks(),
    responses: Object.fromEntries(
      [...NAMES_BY_STATUS].map(([status, names]) => [
        `Error${status}`,
        problemResponse(status, names, examples.errors(status)),
      ]),
    ),
    securitySchemes: SECURITY_SCHEMES,
  }
}

function parameters() {
  const inPath = Object.entries(PATH_PARAMETERS).map(([name, { key, schema, description }]) => [
    key,
    { name, in: 'path', required: true, description, schema: zodToJsonSchema(schema) },
  ])
  const inHeader = Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: 'header', ...header }])
  return Object.fromEntries([...inPath, ...inHeader])
}

/** References to the parameters in a path. */
export function pathParameters(path: string): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    $ref: `#/components/parameters/${PATH_PARAMETERS[name as PathParameter].key}`,
  }))
}

/** Headers that only errors of this status have. */
const PROBLEM_HEADERS = new Map<number, readonly ResponseHeader[]>([
  [401, ['WWW-Authenticate']],
  [408, ['Connection']],
  [409, ['Retry-After']],
  [424, ['Retry-After']],
  [429, ['Retry-After']],
  [502, ['Retry-After']],
  [503, ['Retry-After']],
])

/** Headers that every response to a start can have. */
const START_HEADERS = ['Idempotency-Replayed', 'Portico-Started', ...DEPRECATION_HEADERS, 'Location'] as const

/** Headers of every response to the holder of a link. */
const LINK_HEADERS = ['Referrer-Policy', 'X-Robots-Tag'] as const

function problemResponse(status: number, names: readonly ErrorName[], examples: Examples) {
  const own = PROBLEM_HEADERS.get(status) ?? []
  return {
    description: names.join(', '),
    headers: headerRefs(['Portico-Error-Source', ...own, ...START_HEADERS, ...LINK_HEADERS]),
    content: {
      [PROBLEM_TYPE]: {
        schema: ref(`Problem${status}`),
        ...(Object.keys(examples).length > 0 && { examples }),
      },
    },
  }
}

export function headerRefs(names: readonly ResponseHeader[] = []): Record<string, object> {
  const all: ResponseHeader[] = ['X-Request-Id', 'Cache-Control', ...names]
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

// The order matters: with a plain token, a client of @hey-api/openapi-ts uses the last `http` scheme.
const SECURITY_SCHEMES = {
  basic: { type: 'http', scheme: 'basic', description: 'Any user; the token is the password' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The token' },
  token: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Basic`, a space and the token itself' },
}

export const SECURITY = Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] }))
