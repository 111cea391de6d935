import { expect, test } from 'vitest'
import { accepts, paths, skippedIn } from './accepts.ts'

const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }

test('dialects: draft-07 ignores the keywords beside a $ref', () => {
  const schema = { $ref: '#/definitions/S', maxLength: 2, definitions: { S: { type: 'string' } } }

  expect(accepts({ ...DRAFT_07, ...schema }, 'abcd')).toBe(true)
  expect(accepts({ ...DRAFT_07, ...schema }, 5)).toBe(false)
  expect(accepts(schema, 'abcd')).toBe(false)
})

test('dialects: in draft-07 an array of items is a tuple, and additionalItems applies to the rest', () => {
  const tuple = { ...DRAFT_07, items: [{ type: 'string' }, { type: 'number' }] }

  expect(accepts(tuple, ['a', 1, null])).toBe(true)
  expect(paths(tuple, [1, 1])).toEqual(['/input/0'])
  expect(paths({ ...tuple, additionalItems: { type: 'boolean' } }, ['a', 1, true, 2])).toEqual(['/input/3'])
  expect(accepts({ ...DRAFT_07, items: { type: 'string' }, additionalItems: false }, ['a', 'b'])).toBe(true)
})

test('dialects: draft-07 has dependencies, of keys and of schemas, and anchors in $id', () => {
  const schema = { ...DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } }
  const anchored = {
    ...DRAFT_07,
    properties: { n: { $ref: '#name' } },
    definitions: { N: { $id: '#name', type: 'string' } },
  }

  expect(paths(schema, { a: 1, c: 1 })).toHaveLength(2)
  expect(accepts(schema, { a: 1, b: 1, c: 1, d: 1 })).toBe(true)
  expect([accepts(anchored, { n: 'a' }), accepts(anchored, { n: 1 })]).toEqual([true, false])
})

test('dialects: draft-07 ignores the keywords of later drafts', () => {
  const later = {
    prefixItems: [{ type: 'string' }],
    dependentRequired: { a: ['b'] },
    dependentSchemas: { a: false },
    unevaluatedProperties: false,
    minContains: 2,
    contains: true,
  }

  expect(accepts({ ...DRAFT_07, ...later }, { a: 1 })).toBe(true)
  expect(accepts({ ...DRAFT_07, ...later }, [1])).toBe(true)
})

test('dialects: $schema may use http or https, and an empty fragment', () => {
  const names = ['http://json-schema.org/draft-07/schema', 'https://json-schema.org/draft/2020-12/schema#']

  for (const $schema of names) expect(accepts({ $schema, type: 'string' }, 5)).toBe(false)
})

test('dialects: a schema in another dialect is not checked', () => {
  const names = [
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/next/schema',
    'https://own.test/dialect',
    5,
  ]

  for (const $schema of names) {
    const schema = { $schema, type: 'string' }

    expect(skippedIn(schema)).toEqual([
      `$schema ${JSON.stringify($schema)} is not supported; use JSON Schema 2020-12, 2019-09, draft-07 or draft-06`,
    ])
    expect(accepts(schema, 5)).toBe(true)
  }
})

test('dialects: a subschema may use a dialect of its own', () => {
  const tuple = { $id: 'tuple', ...DRAFT_07, items: [{ type: 'string' }] }
  const unknown = { $id: 'unknown', $schema: 'https://own.test/dialect', type: 'string' }

  expect(paths({ properties: { a: tuple } }, { a: [1] })).toEqual(['/input/a/0'])
  expect(accepts({ required: ['a'], allOf: [unknown] }, { a: 1 })).toBe(true)
  expect(accepts({ required: ['a'], allOf: [unknown] }, {})).toBe(false)
})

test('dialects: in 2020-12 format is only an annotation', () => {
  const values: [format: string, value: string][] = [
    ['date-time', '2024-01-02T03:04:05'],
    ['time', '03:04:05'],
    ['duration', 'PT1.5S'],
    ['duration', '-P1D'],
    ['uri', 'https://example.com/münchen'],
    ['email', 'josé@exämple.com'],
    ['hostname', 'example.com.'],
    ['uuid', '0123456789abcdef0123456789abcdef'],
    ['date', 'tomorrow'],
  ]

  for (const [format, value] of values) expect(accepts({ type: 'string', format }, value), value).toBe(true)
})
