import { expect, test } from 'vitest'
import * as z from 'zod'
import { checkInput } from '../../../../src/service/catalog/check-input.ts'
import type { JsonSchema } from '../../../../src/shared/wire/catalog.ts'

const STRING = { type: 'string' }
const OBJECT = { properties: { a: STRING }, required: ['a'] }

test.for<[schema: JsonSchema, value: unknown, message: string]>([
  [false, 1, 'is not allowed'],
  [{ type: ['string', 'null'] }, 1, 'must be of type string or null, not number'],
  [{ const: 'low' }, 'x', 'must equal "low"'],
  [{ const: 'x'.repeat(300) }, 'x', 'must equal the constant in the schema'],
  [{ enum: ['low', 'high', 5] }, 'x', 'must be one of "low", "high", 5'],
  [{ enum: Array.from({ length: 100 }, (_, number) => number) }, 'x', 'must be one of the 100 values in the schema'],
  [{ minimum: 1 }, 0, 'must be at least 1'],
  [{ maximum: 1 }, 2, 'must be at most 1'],
  [{ exclusiveMinimum: 1 }, 1, 'must be greater than 1'],
  [{ exclusiveMaximum: 1 }, 1, 'must be less than 1'],
  [{ multipleOf: 2 }, 3, 'must be a multiple of 2'],
  [{ minLength: 1 }, '', 'must have at least 1 character'],
  [{ maxLength: 1 }, 'ab', 'must have at most 1 character'],
  [{ minItems: 2 }, [], 'must have at least 2 items'],
  [{ maxItems: 0 }, [1], 'must have at most 0 items'],
  [{ minProperties: 2 }, {}, 'must have at least 2 properties'],
  [{ pattern: '^\\d+$' }, 'a', 'must match pattern "^\\d+$"'],
  [{ pattern: `^${'a'.repeat(300)}$` }, 'a', 'must match the pattern in the schema'],
  [{ required: ['a'] }, {}, 'is required'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'is required'],
  [{ additionalProperties: false }, { a: 1 }, 'is not allowed'],
  [{ uniqueItems: true }, [1, 2, 1], 'must not have duplicate items (items 0 and 2 are equal)'],
  [{ contains: { type: 'number' } }, ['x'], 'must contain at least 1 matching item (found 0)'],
  [{ contains: STRING, maxContains: 1 }, ['a', 'b'], 'must contain at most 1 matching item (found 2)'],
  [{ not: STRING }, 'a', 'must not match the schema in "not"'],
  [{ anyOf: [STRING, { type: 'null' }] }, 1, 'must match a schema in "anyOf"'],
  [{ oneOf: [STRING, { type: 'null' }] }, 1, 'must match exactly one schema in "oneOf" (matched 0)'],
  [{ oneOf: [STRING, { minLength: 1 }] }, 'a', 'must match exactly one schema in "oneOf" (matched 2)'],
  [{ anyOf: [{ type: 'null' }, OBJECT] }, { a: 1 }, 'must be of type string, not number'],
  [{ format: 'email', pattern: '^[^@ ]+@[^@ ]+$' }, 'nonsense', 'must be an email address'],
  [{ format: 'uuid', pattern: '^[0-9a-f-]{36}$' }, 'x', 'must be a UUID'],
  [{ format: 'date', pattern: '^\\d{4}-\\d\\d-\\d\\d$' }, '31.1.2026', 'must be a date such as 2026-01-31'],
  [{ format: 'email', pattern: '@acme\\.com$' }, 'a@other.com', 'must match pattern "@acme\\.com$"'],
  [{ format: 'own', pattern: '^a$' }, 'b', 'must match pattern "^a$"'],
  [{ format: 'toString', pattern: '^a$' }, 'b', 'must match pattern "^a$"'],
])('messages: %j rejects %j: %s', ([schema, value, message]) => {
  expect(checkInput(value, schema).issues.map((issue) => issue.message)).toEqual([message])
})

test('messages: the issue of a missing property points at the property', () => {
  const schema = { type: 'object', properties: { a: OBJECT }, required: ['a', 'x/y'], dependentRequired: { a: ['b'] } }
  const paths = (value: unknown, pointer?: string) => checkInput(value, schema, pointer).issues.map(({ path }) => path)

  expect(paths({})).toEqual(['/input/a', '/input/x~1y'])
  expect(paths({ a: {}, 'x/y': 1 })).toEqual(['/input/b', '/input/a/a'])
  expect(paths({}, '')).toEqual(['/a', '/x~1y'])
})

test('messages: of the alternatives, the one that lacks a property is reported', () => {
  const schema = { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] }

  expect(checkInput({}, schema).issues).toEqual([{ path: '/input/a', message: 'is required' }])
})

test('messages: zod names the format of a string before its pattern', () => {
  const schema = z.toJSONSchema(z.object({ to: z.email(), at: z.iso.datetime(), ip: z.ipv4() })) as JsonSchema

  expect(checkInput({ to: 'x', at: 'x', ip: 'x' }, schema).issues.map(({ message }) => message)).toEqual([
    'must be an email address',
    'must be a time such as 2026-01-31T12:30:00Z',
    'must be an IPv4 address',
  ])
})

test.for<[schema: JsonSchema, reason: string]>([
  [{ multipleOf: 0 }, '/multipleOf: must be greater than 0'],
  [{ $dynamicRef: '#a' }, '/$dynamicRef: $dynamicRef is not supported'],
  [{ pattern: 'a'.repeat(3000) }, '/pattern: the pattern is longer than 2000 characters'],
  [{ pattern: 'a{,3}' }, '/pattern: regular expression engines disagree on the meaning of {,n}'],
  [{ pattern: '[[:a:]]' }, '/pattern: regular expression engines disagree on the meaning of [[:'],
  [{ pattern: '😀' }, '/pattern: regular expression engines disagree on characters beyond U+FFFF'],
  [{ pattern: '(?<n>a)\\k<n>' }, '/pattern: backreferences are not supported'],
  [{ $ref: '#/%zz' }, '/$ref: "/%zz" is not a valid URI fragment'],
  [{ $ref: 'http://[' }, '/$ref: "http://[" is not a valid URI reference'],
  [{ $ref: '#' }, 'the schema refers to itself without end'],
])('messages: %j is skipped: %s', ([schema, reason]) => {
  expect(checkInput(null, schema).skipped).toEqual([reason])
})
