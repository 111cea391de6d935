import { expect, test } from 'vitest'
import { collect, verdictOf } from '../../baselines/differences.ts'
import { compareOpenApi, type OpenApi } from '../../baselines/openapi.ts'
import { type Direction, type Schema, schemaComparison } from '../../baselines/schemas.ts'

type Operation = OpenApi['paths'][string][string]

const OPERATION: Operation = {
  operationId: 'getRun',
  parameters: [{ $ref: '#/components/parameters/id' }, { name: 'wait', in: 'query', schema: { type: 'string' } }],
  requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
  security: [],
  responses: {
    200: {
      headers: { ETag: {} },
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Run' } },
        'text/event-stream': { schema: {}, 'x-events': { end: { $ref: '#/components/schemas/Run' } } },
      },
    },
    404: {},
  },
}

/** The verdicts about the operation `GET /run` with these parts instead, and another schema of its response. */
function verdicts(changed: Partial<Operation>, run: Schema = {}): string[] {
  const document = (operation: Operation, run: Schema): OpenApi => ({
    paths: { '/run': { get: operation } },
    components: {
      schemas: { Run: { type: 'object', properties: { id: { type: 'string' } }, ...run } },
      parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    },
  })
  return compareOpenApi(document(OPERATION, {}), document({ ...OPERATION, ...changed }, run)).map(verdictOf)
}

test('openapi: a removed path or method breaks, a new one does not', () => {
  const { components, paths }: OpenApi = { components: { schemas: {} }, paths: { '/run': { get: OPERATION } } }
  const moved = { components, paths: { '/run': {}, '/runs': { get: OPERATION } } }

  expect(compareOpenApi({ components, paths }, moved).map(verdictOf)).toEqual([
    'breaks: GET /run: is removed',
    'adds: GET /runs: is new',
  ])
  expect(verdicts({})).toEqual([])
})

test('openapi: a parameter that is removed or newly required breaks, a new optional one does not', () => {
  const [id = { $ref: '' }] = OPERATION.parameters ?? []
  const parameter = (name: string, required: boolean) => ({ name, in: 'query', required, schema: { type: 'string' } })

  expect(verdicts({ parameters: [id, parameter('wait', true), parameter('more', false)] })).toEqual([
    'breaks: GET /run query wait: is required',
    'adds: GET /run query more: is new',
  ])
  expect(verdicts({ parameters: [id, parameter('more', true)] })).toEqual([
    'breaks: GET /run query wait: is removed',
    'breaks: GET /run query more: is new and required',
  ])
})

test('openapi: a required body, a credential and another operationId break', () => {
  const { requestBody, security: _, ...others } = OPERATION

  expect(verdicts({ operationId: 'readRun', requestBody: { content: {}, ...requestBody, required: true } })).toEqual([
    'breaks: GET /run operationId: has another value, so generated clients change',
    'breaks: GET /run body: is required',
  ])
  const document = (operation: Operation): OpenApi => ({
    paths: { '/run': { get: operation } },
    components: { schemas: {}, parameters: { id: { name: 'id', in: 'path', schema: {} } } },
  })
  expect(compareOpenApi(document(OPERATION), document(others)).map(verdictOf)).toEqual([
    'breaks: GET /run security: a credential is required',
    'breaks: GET /run application/json: is removed',
  ])
})

test('openapi: a removed status, header, media type or event breaks, a new one does not', () => {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Run' } } }
  const stream = { schema: {}, 'x-events': { begin: {} } }

  expect(verdicts({ responses: { 200: { headers: { Link: {} }, content }, 410: {} } })).toEqual([
    'breaks: GET /run 200 ETag: is removed',
    'adds: GET /run 200 Link: is new',
    'breaks: GET /run 200 text/event-stream: is removed',
    'breaks: GET /run 404: is removed',
    'adds: GET /run 410: is new',
  ])
  const responses = { 200: { headers: { ETag: {} }, content: { ...content, 'text/event-stream': stream } }, 404: {} }
  expect(verdicts({ responses })).toEqual([
    'breaks: GET /run 200 event end: is removed',
    'adds: GET /run 200 event begin: is new',
  ])
})

test('openapi: a difference of a component is reported once, with its name', () => {
  const properties = { id: { type: 'string' }, more: { type: 'string' } }

  expect(verdicts({}, { properties })).toEqual(['adds: Run/more: is new'])
  expect(verdicts({}, { properties: {} })).toEqual(['breaks: Run/id: is removed'])
})

const compare = (direction: Direction) => (before: Schema, now: Schema) =>
  collect((report) => schemaComparison({ before: {}, now: {} }, report)(before, now, 'S', direction)).map(verdictOf)

const request = compare('request')
const response = compare('response')
const field = (schema: Schema, required: string[] = []): Schema => ({
  type: 'object',
  properties: { a: schema },
  required,
})

test('schemas: a type that a request loses, or a response gains, breaks', () => {
  const [one, two] = [{ type: 'string' }, { type: ['string', 'null'] }]

  expect([request(two, one), response(one, two)]).toEqual([
    ['breaks: S: is no longer null'],
    ['breaks: S: can be null'],
  ])
  expect([request(one, two), response(two, one)]).toEqual([[], []])
  expect(request({ type: 'integer' }, { type: 'number' })).toEqual([])
})

test('schemas: a field that a request newly requires, or a response no longer has for certain, breaks', () => {
  const [optional, required] = [field({}), field({}, ['a'])]

  expect(request(optional, required)).toEqual(['breaks: S/a: is required'])
  expect(response(required, optional)).toEqual(['breaks: S/a: is no longer in each response'])
  expect([request(required, optional), response(optional, required)]).toEqual([[], []])
})

test('schemas: a value, limit or pattern with which a request accepts less breaks', () => {
  const values = { enum: ['a', 'b'] }

  expect(request(values, { enum: ['a'] })).toEqual(['breaks: S: accepts less: enum'])
  expect(request({ maxLength: 9, minimum: 1 }, { maxLength: 8, minimum: 2 })).toEqual([
    'breaks: S: accepts less: minimum',
    'breaks: S: accepts less: maxLength',
  ])
  expect(request({}, { pattern: '^a' })).toEqual(['breaks: S: accepts less: pattern'])
  expect([request(values, {}), request({ enum: ['a'] }, values), response({ enum: ['a'] }, values)]).toEqual([
    [],
    [],
    [],
  ])
})

test('schemas: items and further fields are compared too', () => {
  const listOf = (type: string) => ({ type: 'array', items: { type } })

  expect(request(listOf('string'), listOf('number'))).toEqual(['breaks: S/*: is no longer string'])
  expect(request({ type: 'object' }, { type: 'object', additionalProperties: false })).toEqual([
    'breaks: S: additionalProperties are not what they were',
  ])
  expect(response({ additionalProperties: { type: 'string' } }, {})).toEqual([
    'breaks: S: additionalProperties are not what they were',
  ])
  expect(response({ type: 'object' }, { type: 'object', additionalProperties: false })).toEqual([])
})

test('schemas: a variant that a request loses, or a response gains, breaks', () => {
  const one = { anyOf: [{ type: 'string' }, field({ type: 'string' })] }
  const two = { anyOf: [...one.anyOf, { type: 'number' }] }
  const how = (direction: string) => `the variants of the ${direction} are not what they were`

  expect([request(two, one), response(one, two)]).toEqual([
    [`breaks: S: ${how('request')}`],
    [`breaks: S: ${how('response')}`],
  ])
  expect([request(one, two), response(two, one)]).toEqual([
    [`adds: S: ${how('request')}`],
    [`adds: S: ${how('response')}`],
  ])
  expect(response(one, { anyOf: [{ type: 'string' }, field({ type: 'number' })] })).toEqual([
    'breaks: S/a: can be number',
  ])
  expect(response(one, { anyOf: [field({ type: 'string' }), { type: 'string' }] })).toEqual([])
})
