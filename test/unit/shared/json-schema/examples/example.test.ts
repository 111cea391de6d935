import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { doubling, numbers } from '../../../../../dev/hostile-schemas.ts'
import { createBudget } from '../../../../../src/shared/json-schema/check.ts'
import { type Example, exampleOf } from '../../../../../src/shared/json-schema/examples/example.ts'
import { parseJson } from '../../../../../src/shared/lib/json.ts'
import type { JsonSchema } from '../../../../../src/shared/wire/catalog.ts'
import { toJsonSchema } from '../../../../../src/worker/catalog/schemas/json-schema.ts'
import type { ZodCase } from '../../../corpora/zod-case.ts'
import { STRINGS } from '../../../corpora/zod-strings.ts'
import { COMPOSITES, NUMBERS } from '../../../corpora/zod-values.ts'
import { accepts } from '../accepts.ts'

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: { address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
}

function example(schema: JsonSchema): Example | null {
  return exampleOf(schema, createBudget(2_000_000))
}

function exampleValue(schema: JsonSchema): unknown {
  return example(schema)?.value
}

test('exampleOf: has the required properties, or all if none is required', () => {
  const properties = { id: { type: 'string' }, count: { type: 'integer' }, note: { type: 'string' } }

  expect(exampleValue({ type: 'object', properties, required: ['id', 'count'] })).toEqual({ id: 'string', count: 1 })
  expect(exampleValue({ type: 'object', properties })).toEqual({ id: 'string', count: 1, note: 'string' })
})

test('exampleOf: prefers const, then the first valid one of examples, default and enum', () => {
  expect(exampleValue({ const: 'a', default: 'b' })).toBe('a')
  expect(exampleValue({ type: 'integer', minimum: 5, examples: ['wrong', 3, 7], default: 9 })).toBe(7)
  expect(exampleValue({ enum: ['low', 'high'], default: 'high' })).toBe('high')
  expect(exampleValue({ enum: ['low', 'high'] })).toBe('low')
  expect(exampleValue({ type: 'object', default: { a: 1 }, required: ['b'] })).toEqual({ b: 'string' })
})

test('exampleOf: keeps the bounds of numbers, lengths and arrays', () => {
  expect(exampleValue({ type: 'integer', exclusiveMinimum: 10, multipleOf: 4 })).toBe(12)
  expect(exampleValue({ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 })).toBe(0.5)
  expect(exampleValue({ type: 'number', maximum: -3 })).toBe(-3)
  expect(exampleValue({ type: 'string', minLength: 8, maxLength: 9 })).toBe('stringst')
  expect(exampleValue({ type: 'array', items: { type: 'boolean' }, minItems: 2 })).toEqual([true, true])
  expect(exampleValue({ type: 'array', prefixItems: [{ const: 1 }, { type: 'null' }], items: false })).toEqual([
    1,
    null,
  ])
})

test('exampleOf: knows formats, and makes strings for patterns', () => {
  expect(exampleValue({ type: 'string', format: 'date-time' })).toBe('2026-01-31T09:30:00Z')
  expect(exampleValue({ type: 'string', format: 'email' })).toBe('ada@example.com')
  expect(exampleValue({ type: 'string', pattern: '^ord-[0-9]{4}$' })).toBe('ord-1111')
  expect(exampleValue({ type: 'string', pattern: '^[a-z]+$', minLength: 12 })).toBe('aaaaaaaaaaaa')
  expect(exampleValue({ type: 'string', format: 'email', pattern: '@corp\\.test$' })).toBe('@corp.test')
})

test('exampleOf: follows references, allOf and alternatives', () => {
  const named = { properties: { name: { type: 'string' } }, required: ['name'] }

  expect(exampleValue({ ...SCHEMA, allOf: [{ $ref: '#/$defs/address' }, named] })).toEqual({
    name: 'string',
    city: 'string',
  })
  expect(exampleValue({ anyOf: [{ type: 'null' }, { type: 'integer' }] })).toBe(1)
  // The first alternative contradicts the rest.
  expect(exampleValue({ type: 'integer', oneOf: [{ const: 'a' }, { const: 2 }] })).toBe(2)
})

test('exampleOf: says whether the schema allows it', () => {
  expect(example({ type: 'string' })).toEqual({ value: 'string', isValid: true })
  expect(example({ not: { type: 'string' } })).toEqual({ value: 'string', isValid: false })
  expect(example(false)?.isValid).toBe(false)
})

test('exampleOf: ends for a schema that contains itself (threat 78)', () => {
  const tree = { $ref: '#', properties: { child: { $ref: '#' } }, required: ['child'] }

  expect(example(tree)).toBeNull()
  expect(example({ type: 'object', properties: { child: { $ref: '#' } } })?.isValid).toBe(true)
  expect(example({ type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] })?.isValid).toBe(false)
})

test('exampleOf: sets keys such as __proto__ as keys', () => {
  const made = exampleValue(JSON.parse('{"properties":{"__proto__":{"const":1}},"required":["__proto__"]}'))

  expect(JSON.stringify(made)).toBe('{"__proto__":1}')
})

test('exampleOf: returns null when the schema is too expensive or of another dialect (threat 78)', () => {
  const wide = { allOf: numbers(50_000).map(() => ({ type: 'string' })) }
  const deep = { type: 'array', minItems: 20, items: { $ref: '#' } }
  let nested: JsonSchema = { type: 'string' }
  for (let depth = 0; depth < 5000; depth++) nested = { properties: { a: nested } }

  expect(example(wide)).toBeNull()
  expect(example(doubling('allOf', 60, { type: 'string' }) as JsonSchema)).toBeNull()
  expect(example(deep)).toBeNull()
  expect(example(nested)).toBeNull()
  expect(example({ $schema: 'http://json-schema.org/draft-04/schema#' })).toBeNull()
})

test('exampleOf: makes short strings for any pattern, or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a1^$.|()[]{}?*+\\,-dwpLk<>=!') }), (pattern) => {
      const made = example({ type: 'string', pattern })
      if (made?.isValid === true) expect(accepts({ type: 'string', pattern }, made.value)).toBe(true)
      expect(String(made?.value).length).toBeLessThanOrEqual(500)
    }),
  )
  expect(exampleValue({ type: 'string', pattern: '('.repeat(1000) })).toBe('string')
  expect(example({ type: 'string', pattern: '^(a{30}){30}$' })?.isValid).toBe(false)
})

test('exampleOf: its examples for the schemas of the zod corpus are valid, but for contradictions and lookaheads', () => {
  const invalid = Object.entries<ZodCase>({ ...STRINGS, ...NUMBERS, ...COMPOSITES }).flatMap(([name, [schema]]) => {
    const published = JSON.parse(JSON.stringify(toJsonSchema(schema, 'input', throwError))) as JsonSchema
    const made = example(published)
    return made?.isValid === true && accepts(published, made.value) ? [] : [name]
  })

  // `twoPatterns` and `multipleOfTwice` want two things of one value.
  expect(invalid).toEqual(['regexLookahead', 'twoPatterns', 'multipleOfTwice', 'never'])
})

test('exampleOf: its examples for the schemas of the pydantic corpus are valid', () => {
  const corpus = readFileSync(new URL('../../../corpora/pydantic.json', import.meta.url), 'utf8')
  const { cases } = JSON.parse(corpus) as { cases: { name: string; schema: string }[] }
  const invalid = cases.filter(({ schema }) => example(parseJson(schema) as JsonSchema)?.isValid !== true)

  // There is no character of that script in ASCII.
  expect(invalid.map(({ name }) => name)).toEqual(['text pattern script'])
})

function throwError(message: string): never {
  throw new Error(message)
}
