import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonSchema } from '../../../src/protocol/catalog.ts'
import { accepts, paths, unusableIn } from './accepts.ts'

// A schema is no promise.
const THEN = 'then'

/** Only a backtracking engine can match it. */
const LOOKBEHIND = { pattern: '(?<=a)b' }

/** Keywords that can't be evaluated, each for a reason of its own. */
const UNUSABLE: Record<string, unknown>[] = [
  LOOKBEHIND,
  { pattern: '(' },
  { $ref: 'https://elsewhere.test/schema' },
  { $ref: '#/$defs/none' },
  { $ref: '#/%zz' },
  { $dynamicRef: '#node' },
  { items: [{ type: 'string' }] },
  { minLength: 'much' },
  { anyOf: 'both' },
  { propertyNames: 5 },
  { patternProperties: { '(': true } },
  { dependentSchemas: { name: 'text' } },
]

test('skipped: beside a keyword that can not be evaluated, type, required, properties and additionalProperties still refuse', () => {
  for (const unusable of UNUSABLE) {
    // patternProperties is what additionalProperties looks at.
    const others = 'patternProperties' in unusable ? {} : { additionalProperties: false }
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      ...others,
      ...unusable,
    }

    expect(accepts(schema, { name: 'Ada' }), JSON.stringify(unusable)).toBe(true)
    expect(paths(schema, 5), JSON.stringify(unusable)).toEqual(['/input'])
    expect(paths(schema, {}), JSON.stringify(unusable)).toEqual(['/input'])
    expect(paths(schema, { name: 5 }), JSON.stringify(unusable)).toEqual(['/input/name'])
    expect(accepts(schema, { name: 'Ada', more: 1 }), JSON.stringify(unusable)).toBe('patternProperties' in unusable)
  }
})

test('skipped: says where each of them is and why', () => {
  const schema = { properties: { 'a/b': LOOKBEHIND, c: { items: { $ref: '#/$defs/none' } } } }

  expect(unusableIn(schema)).toEqual([
    '/properties/a~1b/pattern: the pattern "(?<=a)b" can\'t be matched in linear time',
    '/properties/c/items/$ref: it does not hold what its $ref "#/$defs/none" means',
  ])
})

test('skipped: what can not be evaluated is told once for each schema', () => {
  const schema = { pattern: '(' }

  expect([unusableIn(schema).length, unusableIn(schema).length]).toEqual([1, 0])
})

test('skipped: below not, if and contains it is the whole keyword, and below oneOf one alternative at least has to fit', () => {
  const inner = { type: 'string', ...LOOKBEHIND }

  expect(accepts({ not: inner }, 'ab')).toBe(true)
  expect(accepts({ if: inner, [THEN]: { minLength: 5 } }, 'cc')).toBe(true)
  expect(accepts({ if: inner, else: { minLength: 5 } }, 'ab')).toBe(true)
  expect(accepts({ contains: inner }, [1])).toBe(true)
  expect(accepts({ contains: inner, maxContains: 1 }, ['a', 'b'])).toBe(true)
  expect(accepts({ oneOf: [inner, { type: 'string' }] }, 'ab')).toBe(true)
  expect(accepts({ oneOf: [inner, { type: 'string' }] }, 5)).toBe(false)
  expect(accepts({ not: { not: { not: inner } } }, 'ab')).toBe(true)
  expect(accepts({ not: { anyOf: [inner, { type: 'number' }] }, type: 'string' }, 5)).toBe(false)
})

test('skipped: unevaluatedProperties and unevaluatedItems leave alone what a skipped keyword might have looked at', () => {
  const elsewhere = { $ref: 'https://elsewhere.test/schema' }

  expect(accepts({ ...elsewhere, unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ allOf: [{ anyOf: [elsewhere] }], unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ patternProperties: { '(': true }, unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ ...elsewhere, unevaluatedItems: false }, [1])).toBe(true)
  expect(accepts({ if: LOOKBEHIND, [THEN]: { properties: { a: true } }, unevaluatedProperties: false }, { a: 1 })).toBe(
    true,
  )
  // A pattern looks at no property, and a property looks into its own alone.
  expect(accepts({ ...LOOKBEHIND, unevaluatedProperties: false }, { a: 1 })).toBe(false)
  expect(accepts({ properties: { b: elsewhere }, unevaluatedProperties: false }, { a: 1 })).toBe(false)
})

test('skipped: a schema that refers to itself for the same value refuses nothing, and is told once', () => {
  const schemas = [
    { $ref: '#' },
    { type: 'string', allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#' }] } } },
  ]

  for (const schema of schemas) {
    expect(unusableIn(schema)).toEqual([expect.stringContaining('refers to itself')])
    expect([accepts(schema, 5), unusableIn(schema)]).toEqual([true, []])
  }
})

test('skipped: a schema that refers to itself for a part of the value is one like others', () => {
  const tree = { type: 'object', properties: { children: { items: { $ref: '#' } } }, required: ['name'] }

  expect(paths(tree, { name: 'a', children: [{ name: 'b' }, {}] })).toEqual(['/input/children/1'])
})

test('skipped: an $id that is no URL leaves its parts to refer to themselves', () => {
  const schema = { $id: 'http://[', $defs: { a: { type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } }

  expect(paths(schema, { a: 5 })).toEqual(['/input/a'])
})

const HOLE = '$hole'

/** Schemas with holes, and values that they have something to say of. */
const { schema, value } = fc.letrec<{ schema: JsonSchema; value: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonSchema>(
      true,
      false,
      { type: 'string' },
      { type: 'object' },
      { type: 'array' },
      { minItems: 1 },
      { minProperties: 1 },
    ),
    fc.constant<JsonSchema>({ allOf: [HOLE] }),
    fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => merged(a, b)),
    fc
      .constantFrom('not', 'contains', 'items', 'propertyNames', 'additionalProperties')
      .chain((key) => one(key, tie('schema'))),
    fc
      .constantFrom('unevaluatedProperties', 'unevaluatedItems')
      .chain((key) => one(key, fc.constant<JsonSchema>(false))),
    fc
      .constantFrom('allOf', 'anyOf', 'oneOf', 'prefixItems')
      .chain((key) =>
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((parts): JsonSchema => ({ [key]: parts })),
      ),
    fc
      .constantFrom('properties', 'dependentSchemas')
      .chain((key) =>
        fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')).map((parts): JsonSchema => ({ [key]: parts })),
      ),
    fc
      .tuple(tie('schema'), tie('schema'), tie('schema'))
      .map(([condition, then, otherwise]): JsonSchema => ({ if: condition, [THEN]: then, else: otherwise })),
  ),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('a', 1, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
}))

function one(keyword: string, part: fc.Arbitrary<JsonSchema>): fc.Arbitrary<JsonSchema> {
  return part.map((schema) => ({ [keyword]: schema }))
}

function merged(a: JsonSchema, b: JsonSchema): JsonSchema {
  return typeof a === 'boolean' || typeof b === 'boolean' ? { allOf: [a, b] } : { ...a, ...b }
}

function filled(schema: JsonSchema, hole: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"${HOLE}"`, JSON.stringify(hole)))
}

test('skipped: whatever it might have said, what would have been accepted then is accepted', () => {
  const meanings = [
    true,
    false,
    { type: 'object', properties: { a: true } },
    { additionalProperties: true, items: true },
  ]

  fc.assert(
    fc.property(schema, value, (schema, value) => {
      const isRight = meanings.some((meaning) => accepts(filled(schema, meaning), value))

      expect(accepts(filled(schema, { $ref: 'https://elsewhere.test/schema' }), value) || !isRight).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
