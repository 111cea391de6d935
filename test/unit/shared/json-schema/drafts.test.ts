/** Schemas of drafts other than 2020-12, and of libraries that do not name their draft. */
import Ajv2019 from 'ajv/dist/2019.js'
import { expect, test } from 'vitest'
import { createBudget } from '../../../../src/shared/json-schema/check.ts'
import { createIdentifiers } from '../../../../src/shared/json-schema/published/identifiers.ts'
import { publishSchema } from '../../../../src/shared/json-schema/published/published-schema.ts'
import { accepts, paths, skippedIn } from './accepts.ts'

const DRAFT_2019_09 = { $schema: 'https://json-schema.org/draft/2019-09/schema' }
const DRAFT_06 = { $schema: 'http://json-schema.org/draft-06/schema#' }

test.for([DRAFT_2019_09, DRAFT_06])('drafts: a schema of $$schema is checked', (draft) => {
  const schema = { ...draft, type: 'object', properties: { n: { type: 'integer' } } }

  expect(skippedIn(schema)).toEqual([])
  expect(paths(schema, { n: 'x' })).toEqual(['/input/n'])
  expect(accepts(schema, { n: 1 })).toBe(true)
})

test.for([DRAFT_2019_09, DRAFT_06])('drafts: in $$schema a list of items is a tuple', (draft) => {
  const tuple = { ...draft, items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }

  expect(accepts(tuple, ['a', 1])).toBe(true)
  expect(accepts(tuple, ['a'])).toBe(true)
  expect(paths(tuple, [1, 1])).toEqual(['/input/0'])
  expect(paths(tuple, ['a', 1, 2])).toEqual(['/input/2'])
})

test('drafts: 2019-09 has the keywords that 2020-12 has, and reads keywords beside a $ref', () => {
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

test('drafts: 2019-09 skips $recursiveRef, which may have evaluated everything', () => {
  const schema = {
    ...DRAFT_2019_09,
    $recursiveAnchor: true,
    properties: { child: { $recursiveRef: '#', unevaluatedProperties: false }, n: { type: 'number' } },
  }

  expect(skippedIn(schema)).toEqual(['/properties/child/$recursiveRef: $recursiveRef is not supported'])
  expect(accepts(schema, { n: 1, child: { n: 1, other: 1 } })).toBe(true)
  expect(accepts(schema, { n: 'x' })).toBe(false)
})

test('drafts: draft-06 ignores if, and the keywords beside a $ref', () => {
  const condition = { ...DRAFT_06, if: { type: 'string' }, else: false }
  const reference = { ...DRAFT_06, $ref: '#/definitions/S', maxLength: 2, definitions: { S: { type: 'string' } } }

  expect(accepts(condition, 1)).toBe(true)
  expect([accepts(reference, 'abcd'), accepts(reference, 5)]).toEqual([true, false])
  expect(paths({ ...DRAFT_06, dependencies: { a: ['b'] } }, { a: 1 })).toEqual(['/input/b'])
})

test('drafts: a list of items without $schema is a tuple, at any depth', () => {
  const tuple = {
    type: 'array',
    items: [{ type: 'string' }, { type: 'number' }],
    additionalItems: false,
    minItems: 2,
    maxItems: 2,
  }
  const nested = { type: 'object', properties: { pairs: { type: 'array', items: tuple } } }
  const open = { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } }

  expect(skippedIn(nested)).toEqual([])
  expect([accepts(tuple, ['a', 1]), accepts(tuple, ['a']), accepts(tuple, [1, 'a'])]).toEqual([true, false, false])
  expect(
    paths(nested, {
      pairs: [
        ['a', 1],
        ['a', 'b'],
      ],
    }),
  ).toEqual(['/input/pairs/1/1'])
  expect(paths(open, ['a', 1, 'b'])).toEqual(['/input/2'])
})

test('drafts: a list of items in a schema that says that it is 2020-12 is skipped', () => {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [{ type: 'string' }] }

  expect(skippedIn(schema)).toHaveLength(1)
  expect(accepts(schema, [1])).toBe(true)
})

test('drafts: a document shows a schema of another draft in the words of 2020-12, without what means nothing', () => {
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
