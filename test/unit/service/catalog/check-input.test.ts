import { expect, test } from 'vitest'
import { checkInput } from '../../../../src/service/catalog/check-input.ts'

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

test('checkInput: the path is a JSON Pointer', () => {
  expect(paths({ 'a/b~c': 1 }, { properties: { 'a/b~c': { type: 'string' } } })).toEqual(['/input/a~1b~0c'])
})

test('checkInput: treats an own __proto__ as an ordinary key', () => {
  expect(paths(JSON.parse('{"__proto__":5}'), { additionalProperties: false })).toEqual(['/input/__proto__'])
})

test('checkInput: ignores properties of Object.prototype (threat 50)', () => {
  expect(paths({}, { required: ['toString'] })).toEqual(['/input/toString'])
})

test('checkInput: reports at most 20 issues (threat 104)', () => {
  expect(issuesOf(Array(100).fill(1), { items: { type: 'string' } })).toHaveLength(20)
})
