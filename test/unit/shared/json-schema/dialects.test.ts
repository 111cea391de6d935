/** Schemas of each draft, and of libraries that do not name their draft. */
import Ajv2019 from 'ajv/dist/2019.js'
import { expect, test } from 'vitest'
import { createBudget } from '../../../../src/shared/json-schema/check.ts'
import { createIdentifiers } from '../../../../src/shared/json-schema/published/identifiers.ts'
import { publishSchema } from '../../../../src/shared/json-schema/published/published-schema.ts'
import { accepts, paths, skippedIn } from './accepts.ts'

const DRAFT_2020_12 = { $schema: 'https://json-schema.org/draft/2020-12/schema' }
const DRAFT_2019_09 = { $schema: 'https://json-schema.org/draft/2019-09/schema' }
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }
const DRAFT_06 = { $schema: 'http://json-schema.org/draft-06/schema#' }

test.for([{}, DRAFT_2019_09, DRAFT_07, DRAFT_06])('dialects: in %j a list of items is a tuple', (draft) => {
  const items = [{ type: 'string' }, { type: 'number' }]
  const tuple = { ...draft, type: 'array', items }
  const closed = { ...tuple, additionalItems: false }

  expect(skippedIn({ ...draft, properties: { pairs: tuple } })).toEqual([])
  expect([accepts(tuple, ['a', 1, null]), accepts(closed, ['a', 1]), accepts(closed, ['a'])]).toEqual([
    true,
    true,
    true,
  ])
  expect([paths(tuple, [1, 1]), paths(closed, ['a', 1, 2])]).toEqual([['/input/0'], ['/input/2']])
  expect(paths({ ...tuple, additionalItems: { type: 'boolean' } }, ['a', 1, true, 2])).toEqual(['/input/3'])
  expect(accepts({ ...draft, items: { type: 'string' }, additionalItems: false }, ['a', 'b'])).toBe(true)
  expect(
    paths(
      { ...draft, properties: { pairs: { items: { items } } } },
      {
        pairs: [
          ['a', 1],
          ['a', 'b'],
        ],
      },
    ),
  ).toEqual(['/input/pairs/1/1'])
})

test('dialects: in 2020-12 a list of items is skipped', () => {
  const schema = { ...DRAFT_2020_12, items: [{ type: 'string' }] }

  expect([skippedIn(schema).length, accepts(schema, [1])]).toEqual([1, true])
})

test.for([DRAFT_07, DRAFT_06])('dialects: %j ignores the keywords beside a $ref', (draft) => {
  const schema = { $ref: '#/definitions/S', maxLength: 2, definitions: { S: { type: 'string' } } }

  expect([accepts({ ...draft, ...schema }, 'abcd'), accepts({ ...draft, ...schema }, 5)]).toEqual([true, false])
  expect(accepts(schema, 'abcd')).toBe(false)
})

test.for([DRAFT_07, DRAFT_06])('dialects: %j has dependencies, of keys and of schemas, and anchors in $id', (draft) => {
  const schema = { ...draft, dependencies: { a: ['b'], c: { required: ['d'] } } }
  const anchored = {
    ...draft,
    properties: { n: { $ref: '#name' } },
    definitions: { N: { $id: '#name', type: 'string' } },
  }

  expect(paths(schema, { a: 1, c: 1 })).toEqual(['/input/b', '/input/d'])
  expect(accepts(schema, { a: 1, b: 1, c: 1, d: 1 })).toBe(true)
  expect([accepts(anchored, { n: 'a' }), accepts(anchored, { n: 1 })]).toEqual([true, false])
})

test('dialects: draft-06 ignores if', () => {
  expect(accepts({ ...DRAFT_06, if: { type: 'string' }, else: false }, 1)).toBe(true)
  expect(accepts({ ...DRAFT_07, if: { type: 'string' }, else: false }, 1)).toBe(false)
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

test('dialects: 2019-09 has the keywords that 2020-12 has, and reads keywords beside a $ref', () => {
  const schema = {
    ...DRAFT_2019_09,
    $ref: '#/$defs/S',
    dependentRequired: { a: ['b'] },
    unevaluatedProperties: false,
    $defs: { S: { properties: { a: { type: 'string' }, b: true } } },
  }
  const values = [{}, { a: 'x', b: 1 }, { a: 'x' }, { a: 1, b: 1 }, { a: 'x', b: 1, c: 1 }, { b: 1 }, { c: 1 }]

  const validate = new Ajv2019.default().compile(schema)

  expect(values.map((value) => accepts(schema, value))).toEqual(values.map((value) => validate(value)))
  expect(accepts({ ...DRAFT_2019_09, minContains: 2, contains: { type: 'string' } }, ['a', 1])).toBe(false)
})

test('dialects: 2019-09 skips $recursiveRef, which may have evaluated everything', () => {
  const schema = {
    ...DRAFT_2019_09,
    $recursiveAnchor: true,
    properties: { child: { $recursiveRef: '#', unevaluatedProperties: false }, n: { type: 'number' } },
  }

  expect(skippedIn(schema)).toEqual(['/properties/child/$recursiveRef: $recursiveRef is not supported'])
  expect(accepts(schema, { n: 1, child: { n: 1, other: 1 } })).toBe(true)
  expect(accepts(schema, { n: 'x' })).toBe(false)
})

test('dialects: a document shows a schema of another draft in the words of 2020-12, without what means nothing', () => {
  const tuple = { items: [{ type: 'string' }], additionalItems: false }
  const later = { type: 'object', unevaluatedProperties: false, dependentRequired: { a: ['b'] } }

  expect(shown(tuple)).toEqual({ prefixItems: [{ type: 'string' }], items: { not: {} } })
  expect(shown({ ...DRAFT_2019_09, ...tuple })).toEqual(shown(tuple))
  expect(shown({ ...DRAFT_2019_09, ...later })).toEqual(later)
  expect(shown({ ...DRAFT_06, ...tuple })).toEqual(shown(tuple))
  expect(shown({ ...DRAFT_06, ...later, if: { required: ['a'] }, else: false })).toEqual({
    type: 'object',
  })
})

function shown(schema: Record<string, unknown>): unknown {
  const components = {}
  const budgetOf = () => createBudget(1_000_000)
  publishSchema(schema, 'S', {
    identifiers: createIdentifiers(['S']),
    components,
    refPrefix: '#/',
    budgetOf,
    requiresDefaults: true,
  })
  return Reflect.get(components, 'S')
}
