import { expect, test } from 'vitest'
import { checkInput } from '../../../../src/service/catalog/check-input.ts'
import { parseJson } from '../../../../src/shared/lib/json.ts'

const ORDER = {
  type: 'object',
  properties: {
    lines: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } }, required: ['sku'] } },
  },
  required: ['lines'],
}

function issuesOf(input: unknown, schema: object | boolean) {
  return checkInput(input, schema as Record<string, unknown>).issues
}

function paths(input: unknown, schema: object | boolean): string[] {
  return issuesOf(input, schema).map(({ path }) => path)
}

test('checkInput: has no issues for a valid input', () => {
  expect(issuesOf({ lines: [{ sku: 'a', count: 1 }] }, ORDER)).toEqual([])
})

test('checkInput: reports the path of each invalid value, without its parents', () => {
  expect(paths({ lines: [{ sku: 'a', count: 'x' }, { count: 1 }] }, ORDER)).toEqual([
    '/input/lines/0/count',
    '/input/lines/1/sku',
  ])
})

test('checkInput: reports an invalid input as a whole', () => {
  expect(issuesOf(5, { type: 'string' })).toEqual([{ path: '/input', message: 'must be of type string, not number' }])
})

test('checkInput: lists the allowed values, unless there are many', () => {
  const messageFor = (schema: object) => issuesOf('x', schema)[0]?.message

  expect(messageFor({ enum: ['low', 'high', 5] })).toBe('must be one of "low", "high", 5')
  expect(messageFor({ const: 'low' })).toBe('must equal "low"')
  expect(messageFor({ enum: Array.from({ length: 100 }, (_, number) => number) })).toBe(
    'must be one of the 100 values in the schema',
  )
})

test('checkInput: uses the singular for one', () => {
  const messageFor = (input: unknown, schema: object) => issuesOf(input, schema)[0]?.message

  expect(messageFor('', { minLength: 1 })).toBe('must have at least 1 character')
  expect(messageFor([], { minItems: 2 })).toBe('must have at least 2 items')
  expect(messageFor(['x'], { contains: { type: 'number' } })).toBe('must contain at least 1 matching item (found 0)')
})

test('checkInput: the path is a JSON Pointer', () => {
  expect(paths({ 'a/b~c': 1 }, { properties: { 'a/b~c': { type: 'string' } } })).toEqual(['/input/a~1b~0c'])
})

test('checkInput: treats exact numbers as numbers', () => {
  expect(issuesOf(parseJson('{"n":9007199254740993}'), { properties: { n: { type: 'integer', minimum: 1 } } })).toEqual(
    [],
  )
})

test('checkInput: treats an own __proto__ as an ordinary key', () => {
  expect(paths(JSON.parse('{"__proto__":5}'), { additionalProperties: false })).toEqual(['/input/__proto__'])
})

test('checkInput: ignores properties of Object.prototype (threat 50)', () => {
  expect(paths({}, { required: ['toString'] })).toEqual(['/input/toString'])
})

test('checkInput: true accepts everything, false nothing', () => {
  expect(issuesOf(1, true)).toEqual([])
  expect(paths(1, false)).toEqual(['/input'])
})

test('checkInput: reports at most 20 issues (threat 104)', () => {
  expect(issuesOf(Array(100).fill(1), { items: { type: 'string' } })).toHaveLength(20)
})
