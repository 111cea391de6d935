import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonSchema } from '../../../../src/shared/wire/catalog.ts'
import { accepts, paths, skippedIn } from './accepts.ts'

// As a literal key, the linter would take the schema for a promise.
const THEN = 'then'

/** Only a backtracking engine can match it. */
const LOOKBEHIND = { pattern: '(?<=a)b' }

/** Keywords that cannot be evaluated, each for another reason. */
const SKIPPED: Record<string, unknown>[] = [
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

test('skipped: beside a skipped keyword, type, required, properties and additionalProperties still apply', () => {
  for (const skipped of SKIPPED) {
    // additionalProperties depends on patternProperties.
    const others = 'patternProperties' in skipped ? {} : { additionalProperties: false }
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      ...others,
      ...skipped,
    }

    expect(accepts(schema, { name: 'Ada' }), JSON.stringify(skipped)).toBe(true)
    expect(paths(schema, 5), JSON.stringify(skipped)).toEqual(['/input'])
    expect(paths(schema, {}), JSON.stringify(skipped)).toEqual(['/input/name'])
    expect(paths(schema, { name: 5 }), JSON.stringify(skipped)).toEqual(['/input/name'])
    expect(accepts(schema, { name: 'Ada', more: 1 }), JSON.stringify(skipped)).toBe('patternProperties' in skipped)
  }
})

test('skipped: each entry has a JSON Pointer and a reason', () => {
  const schema = { properties: { 'a/b': LOOKBEHIND, c: { items: { $ref: '#/$defs/none' } } } }

  expect(skippedIn(schema)).toEqual([
    '/properties/a~1b/pattern: the pattern "(?<=a)b" cannot be matched in linear time',
    '/properties/c/items/$ref: cannot resolve "#/$defs/none" within the schema',
  ])
})

test('skipped: keywords are reported once for each schema', () => {
  const schema = { pattern: '(' }

  expect([skippedIn(schema).length, skippedIn(schema).length]).toEqual([1, 0])
})

test('skipped: below not, if and contains the whole keyword is skipped, and oneOf becomes anyOf', () => {
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

test('skipped: unevaluatedProperties and unevaluatedItems ignore properties that a skipped keyword might have evaluated', () => {
  const elsewhere = { $ref: 'https://elsewhere.test/schema' }

  expect(accepts({ ...elsewhere, unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ allOf: [{ anyOf: [elsewhere] }], unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ patternProperties: { '(': true }, unevaluatedProperties: false }, { a: 1 })).toBe(true)
  expect(accepts({ ...elsewhere, unevaluatedItems: false }, [1])).toBe(true)
  expect(accepts({ if: LOOKBEHIND, [THEN]: { properties: { a: true } }, unevaluatedProperties: false }, { a: 1 })).toBe(
    true,
  )
  // A pattern evaluates no properties, and a property evaluates only itself.
  expect(accepts({ ...LOOKBEHIND, unevaluatedProperties: false }, { a: 1 })).toBe(false)
  expect(accepts({ properties: { b: elsewhere }, unevaluatedProperties: false }, { a: 1 })).toBe(false)
})

test('skipped: a schema that applies itself to the same value accepts everything and is reported once', () => {
  const schemas = [
    { $ref: '#' },
    { type: 'string', allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#' }] } } },
  ]

  for (const schema of schemas) {
    expect(skippedIn(schema)).toEqual([expect.stringContaining('refers to itself')])
    expect([accepts(schema, 5), skippedIn(schema)]).toEqual([true, []])
  }
})

test('skipped: a schema may apply itself to a part of the value', () => {
  const tree = { type: 'object', properties: { children: { items: { $ref: '#' } } }, required: ['name'] }

  expect(paths(tree, { name: 'a', children: [{ name: 'b' }, {}] })).toEqual(['/input/children/1/name'])
})

test('skipped: references below an invalid $id still resolve', () => {
  const schema = { $id: 'http://[', $defs: { a: { type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } }

  expect(paths(schema, { a: 5 })).toEqual(['/input/a'])
})

const HOLE = '$hole'

/** Schemas with holes, and values that they apply to. */
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

test('skipped: a value is valid if it would be with any meaning of the skipped keyword', () => {
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
