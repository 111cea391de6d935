import { describe, expect, test } from 'vitest'
import { generalDocument } from '../../../../src/service/openapi/general-document.ts'
import { ERROR_NAMES } from '../../../../src/service/openapi/schemas/problems.ts'
import { readApiExamples } from '../../../support/api-docs.ts'
import { issues } from '../../../support/openapi-check.ts'
import { openApiErrors } from '../../../support/openapi-validators.ts'
import { catalogOf, makeApi } from '../http/api.ts'

const WITHOUT_WORKFLOWS = { catalog: catalogOf() }

const document = JSON.parse(JSON.stringify(await generalDocument()))

const operations: [string, Record<string, unknown>][] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(Object(item)).map(([method, operation]): [string, Record<string, unknown>] => [
    `${method} ${path}`,
    Object(operation),
  ]),
)

describe('the OpenAPI document', () => {
  test('it describes exactly the routes of the app', async () => {
    const { call, routes: mounted } = makeApi({
      readMetrics: () => '',
      readDocsFile: async () => null,
      readConsoleFile: async () => null,
      mcp: { waitMs: 0, ttlMs: 0, maxOutputBytes: 65_536 },
      workflows: WITHOUT_WORKFLOWS,
    })
    const served = await (await call('GET', '/openapi.json')).json()
    const routes = mounted.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)

    expect(routes.length).toBeGreaterThan(40)
    expect(operations.map(([route]) => route).toSorted()).toEqual(routes.toSorted())
    expect(Object.keys(served.paths).toSorted()).toEqual(Object.keys(document.paths).toSorted())
  })

  test('it leaves out routes that this service does not have', async () => {
    const { call } = makeApi({ workflows: WITHOUT_WORKFLOWS })

    const { paths } = await (await call('GET', '/openapi.json')).json()

    expect(paths).not.toHaveProperty(['/metrics'])
    expect(paths).not.toHaveProperty(['/docs'])
    expect(paths).toHaveProperty(['/health'])
  })

  test('raw payloads can stand for each argument and result of a request', () => {
    const requests = Object.entries<{ properties?: object }>(document.components.schemas)
      .map(([name, { properties = {} }]): [string, string[]] => [name, Object.keys(properties)])
      .filter(
        ([name, fields]) =>
          name.endsWith('Request') && fields.some((field) => /^(?:input|payload|output)$/.test(field)),
      )
      .map(([name, fields]) => [name, fields.filter((field) => /payloads$/i.test(field))])
    const withStart = ['inputPayloads', 'payloads']

    expect(Object.fromEntries(requests)).toEqual({
      StartRequest: ['payloads'],
      StartActivityRequest: ['payloads'],
      SignalWithStartRequest: withStart,
      UpdateWithStartRequest: withStart,
      MessageRequest: ['payloads'],
      ScheduleRequest: ['payloads'],
      BatchRequest: ['payloads'],
      CompleteActivityRequest: ['payloads'],
    })
    expect(document.components.schemas.StartRequest.properties.payloads).toMatchObject({
      type: 'array',
      items: { required: ['metadata'], properties: { metadata: { required: ['encoding'] }, data: { type: 'string' } } },
    })
  })

  test('each operation has its own id, which is an identifier', () => {
    const ids = operations.map(([, { operationId }]) => String(operationId))

    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
  })

  test('no type is an object or a text, and no boolean has an enum: generators for Java do not compile them', () => {
    const found = schemasIn(document, '').flatMap(([path, schema]) => (isUnknownToJava(schema) ? [path] : []))

    expect(schemasIn(document, '').length).toBeGreaterThan(500)
    expect(found).toEqual([])
  })

  test('no two types have the same name: generators make types of schemas, parameters, responses and operations', () => {
    const { schemas, parameters, responses } = document.components
    const ofOperations = operations.flatMap(([, { operationId }]) =>
      ['Response', 'Params', 'JSONBody', 'JSONRequestBody'].map((suffix) => `${operationId}${suffix}`),
    )
    const names = [...[schemas, parameters, responses].flatMap((named) => Object.keys(named)), ...ofOperations]
    const folded = names.map((name) => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase())

    expect(folded.length).toBeGreaterThan(250)
    expect(folded.filter((name, index) => folded.indexOf(name) !== index)).toEqual([])
  })

  test('no object contains another one under its own name: in Python the two would be one variable', () => {
    const named = Object.entries(document.components.schemas).filter(([name, schema]) => {
      const property = Object(schema).properties?.[name.charAt(0).toLowerCase() + name.slice(1)]
      return property !== undefined && typeof property.type !== 'string'
    })

    expect(named.map(([name]) => name)).toEqual([])
  })

  test('each error name is one of an operation, except that of unknown methods', () => {
    const listed = new Set(operations.flatMap(([, operation]) => operation['x-errors']))

    expect(ERROR_NAMES.filter((name) => !listed.has(name))).toEqual(['MethodNotAllowedError'])
  })

  test('each parameter, and each field of a body, has a description', () => {
    const parameters = operations.flatMap(([route, operation]) =>
      (operation.parameters as { name?: string; $ref?: string; description?: string }[])
        .filter(({ $ref, description }) => $ref === undefined && !description)
        .map(({ name }) => `${route} ${name}`),
    )
    const fields = Object.entries(document.components.schemas)
      .filter(([name]) => name.endsWith('Request'))
      .flatMap(([name, schema]) =>
        Object.entries(Object(schema).properties)
          .filter(([, property]) => !Object(property).description)
          .map(([field]) => `${name}.${field}`),
      )

    expect([...parameters, ...fields]).toEqual([])
  })

  test('a message of the Model Context Protocol is an object with its fields, open to more', () => {
    const { McpMessage } = document.components.schemas

    expect(McpMessage).toMatchObject({ type: 'object', required: ['jsonrpc'], additionalProperties: true })
    expect(Object.keys(McpMessage.properties)).toEqual(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
  })

  test('each example is valid', () => {
    const wrong = operations.flatMap(([route, operation]) => {
      const { requestBody, responses } = Object(operation)
      return [requestBody, ...Object.values(Object(responses))].flatMap((holder) =>
        exampleIssues(route, Object(holder)),
      )
    })
    const problems = Object.entries(document.components.responses).flatMap(([name, response]) =>
      exampleIssues(name, Object(response)),
    )

    expect([...wrong, ...problems]).toEqual([])
  })

  test('the examples of docs/api that have a name are its examples', () => {
    const named = readApiExamples().flatMap(({ name, response }) => (name ? [`${response?.status} ${name}`] : []))
    const described = operations.flatMap(([, operation]) => examplesOfResponses(Object(operation).responses))
    const errors = examplesOfResponses(
      Object.fromEntries(
        Object.entries(document.components.responses).map(([name, response]) => [name.replace('Error', ''), response]),
      ),
    )

    expect([...described, ...errors].toSorted()).toEqual(named.toSorted())
  })

  test('two validators find no error', async () => {
    expect(await openApiErrors(document)).toEqual([])
  })
})

interface Content {
  content?: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>
}

/** Each with its status. */
function examplesOfResponses(responses: object): string[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    Object.values((response as Content).content ?? {}).flatMap(({ examples = {} }) =>
      Object.keys(examples).map((name) => `${status} ${name}`),
    ),
  )
}

function exampleIssues(where: string, { content = {} }: Content): string[] {
  return Object.values(content).flatMap(({ schema, examples = {} }) =>
    Object.entries(examples).flatMap(([name, { value }]) => issues(`${where} ${name}`, schema, value)),
  )
}

/** The schemas of the document and its parts, with their paths. */
function schemasIn(value: unknown, path: string): [string, Record<string, unknown>][] {
  if (typeof value !== 'object' || value === null) return []
  const parts = Object.entries(value)
    .filter(([key]) => !/^(?:examples?|enum|not)$/.test(key))
    .flatMap(([key, part]) => schemasIn(part, `${path}/${key}`))
  return [[path, Object(value)], ...parts]
}

function isUnknownToJava(schema: Record<string, unknown>): boolean {
  const types = typesOf(schema)
  const isStructured = (type: unknown): boolean => type === 'object' || type === 'array'
  const isMixed = types.some(isStructured) && !types.every((type) => isStructured(type) || type === 'null')
  return isMixed || (types.includes('boolean') && 'enum' in schema)
}

function typesOf(schema: Record<string, unknown>): unknown[] {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return typesOf(Object(document.components.schemas[name]))
  }
  const options = [schema.anyOf, schema.oneOf].flat().filter((option) => option !== undefined)
  return [schema.type, ...options.flatMap((option) => typesOf(Object(option)))]
    .flat()
    .filter((type) => type !== undefined)
}
