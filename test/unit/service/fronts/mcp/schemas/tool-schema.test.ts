import { expect, test } from 'vitest'
import {
  type ArgumentForm,
  fittingOutputSchema,
  inputSchemaOf,
  outputSchemaOf,
} from '../../../../../../src/service/fronts/mcp/schemas/tool-schema.ts'
import { createBudget } from '../../../../../../src/shared/json-schema/check.ts'
import type { JsonSchema } from '../../../../../../src/shared/wire/catalog.ts'

const budgetOf = () => createBudget(1_000_000)
const input = (published: JsonSchema | null, isOptional = false) =>
  inputSchemaOf(published, { isOptional, requiresDefaults: true, budgetOf })

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

test.for<[what: string, schema: JsonSchema | null, form: ArgumentForm]>([
  ['an object', NAME, 'flat'],
  ['a reference to an object', { $ref: '#/$defs/Name', $defs: { Name: NAME } }, 'flat'],
  ['an object with an own reference', { ...NAME, properties: { next: { $ref: '#' } }, required: [] }, 'flat'],
  ['a string', { type: 'string' }, 'wrapped'],
  ['an object or null', { type: ['object', 'null'] }, 'wrapped'],
  ['a union', { anyOf: [NAME, { type: 'string' }] }, 'wrapped'],
  ['an object with a condition', { ...NAME, if: { required: ['a'] } }, 'wrapped'],
  ['an object with a constant', { type: 'object', const: { a: 1 } }, 'wrapped'],
  ['a key with a space', { type: 'object', properties: { 'a b': {} } }, 'wrapped'],
  ['a key with 65 characters', { type: 'object', properties: { ['a'.repeat(65)]: {} } }, 'wrapped'],
  ['anything', true, 'wrapped'],
  ['nothing', false, 'none'],
  ['no schema', null, 'open'],
])('inputSchemaOf: the form of %s', ([, schema, form]) => {
  const found = input(schema)

  expect([found.form, found.schema.type]).toEqual([form, 'object'])
  const root = Object.keys(found.schema)
  expect(root.filter((keyword) => ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'if', '$ref'].includes(keyword))).toEqual(
    [],
  )
})

test('inputSchemaOf: the references of a schema lead to definitions at the root of the tool', () => {
  const Part = { type: 'object', properties: { parts: { type: 'array', items: { $ref: '#/definitions/Part' } } } }
  const published = {
    $schema: 'http://json-schema.org/draft-07/schema',
    type: 'array',
    items: { $ref: '#/definitions/Part' },
    definitions: { Part, Unused: {} },
  }

  expect(input(published).schema).toEqual({
    type: 'object',
    properties: { input: { type: 'array', items: { $ref: '#/$defs/input_Part' } } },
    required: ['input'],
    additionalProperties: false,
    $defs: {
      input_Part: { type: 'object', properties: { parts: { type: 'array', items: { $ref: '#/$defs/input_Part' } } } },
    },
  })
})

test('inputSchemaOf: an argument that may be left out is not required', () => {
  expect(input({ type: 'string' }, true).schema).not.toHaveProperty('required')
  expect(input({ type: 'string' }).schema).toMatchObject({ required: ['input'] })
})

test('inputSchemaOf: a schema that takes too much work is described as such (threat 78)', () => {
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, { $ref: '#' }]))
  const tool = inputSchemaOf(
    { type: 'object', properties },
    { isOptional: false, requiresDefaults: true, budgetOf: () => createBudget(1000) },
  )

  expect(tool).toMatchObject({
    form: 'wrapped',
    schema: { properties: { input: { description: 'The published schema is too large to be shown' } } },
  })
})

test('outputSchemaOf: has the output without formats, and requires only the status', () => {
  const published = { type: 'object', properties: { format: { type: 'string', format: 'email' } } }

  expect(outputSchemaOf(published, budgetOf)).toMatchObject({
    type: 'object',
    required: ['status'],
    properties: { output: { properties: { format: { type: 'string', description: '(format: email)' } } } },
  })
  expect(JSON.stringify(outputSchemaOf(published, budgetOf))).not.toContain('"format":"email"')
  expect(outputSchemaOf(null, budgetOf)).toMatchObject({ properties: { output: {} } })
})

test('inputSchemaOf: a parameter that may be anything names all types, and an array has items', () => {
  const types = [
    { type: 'object' },
    { type: 'array', items: {} },
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
  ]
  const published = { type: 'object', properties: { any: { title: 'Any' }, tags: { type: ['array', 'null'] } } }

  expect(input(published).schema.properties).toEqual({
    any: { title: 'Any', anyOf: types },
    tags: { type: ['array', 'null'], items: {} },
  })
  expect(input(true).schema.properties).toEqual({ input: { anyOf: types } })
  expect(input(null).schema.properties).toMatchObject({ input: { anyOf: types } })
})

const PAIR = { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], minItems: 2 }

test.for<[what: string, published: Record<string, unknown>, shown: object]>([
  [
    'a tuple',
    { ...PAIR, items: false, maxItems: 9 },
    { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] }, minItems: 2, maxItems: 2 },
  ],
  [
    'an open tuple',
    PAIR,
    { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }, {}] }, minItems: 2 },
  ],
  ['a multiple', { type: 'number', multipleOf: 0.01 }, { type: 'number' }],
  [
    'a pattern',
    { type: 'string', pattern: '^a', minLength: 2, maxLength: 3 },
    { type: 'string', minLength: 1, maxLength: 3 },
  ],
  [
    'keys by pattern',
    { type: 'object', patternProperties: { '^a': {} }, additionalProperties: false },
    { type: 'object' },
  ],
  [
    'alternatives',
    { oneOf: [PAIR, { type: 'null' }], anyOf: [{}] },
    { anyOf: [{}], allOf: [{ anyOf: [expect.anything(), { type: 'null' }] }] },
  ],
  ['a negation of a pattern', { type: 'string', not: { pattern: '^a' } }, { type: 'string' }],
  ['a negation of a constant', { type: 'string', not: { const: 'a' } }, { type: 'string', not: { const: 'a' } }],
  ['a limit', { type: 'number', exclusiveMinimum: 0 }, { type: 'number', minimum: 0 }],
])('outputSchemaOf: shows %s as all clients read it', ([, published, shown]) => {
  const { properties } = outputSchemaOf(published, budgetOf)

  expect(properties).toMatchObject({ output: shown })
  expect(Object.keys((properties as { output: object }).output).toSorted()).toEqual(Object.keys(shown).toSorted())
})

const TREE = { ...NAME, properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } } }

test('inputSchemaOf: a root that refers to itself is written once, and refers to itself', () => {
  const named = { $ref: '#/$defs/Tree', $defs: { Tree: { ...TREE, properties: { next: { $ref: '#/$defs/Tree' } } } } }
  const through = {
    ...NAME,
    properties: { part: { $ref: '#/$defs/Part' } },
    required: [],
    $defs: { Part: { type: 'object', properties: { of: { $ref: '#' } } } },
  }

  expect(input(TREE).schema).toEqual(TREE)
  expect(input(named).schema).toMatchObject({ properties: { next: { $ref: '#' } } })
  expect(input(named).schema).not.toHaveProperty('$defs')
  expect(input(through).schema).toEqual({
    type: 'object',
    properties: { part: { $ref: '#/$defs/input_Part' } },
    required: [],
    $defs: { input_Part: { type: 'object', properties: { of: { $ref: '#' } } } },
  })
})

test('inputSchemaOf, outputSchemaOf: a part that refers to itself is written once, in the definitions', () => {
  const list = { type: 'array', items: { $ref: '#' } }
  const wrapped = input(list).schema
  const output = outputSchemaOf(TREE, budgetOf)

  expect(wrapped).toMatchObject({
    properties: { input: { $ref: '#/$defs/input' } },
    $defs: { input: { type: 'array' } },
  })
  expect(output).toMatchObject({ properties: { output: { $ref: '#/$defs/output' } } })
  expect(JSON.stringify(output).split('"children"')).toHaveLength(2)
})

const wide = (bytes: number) => ({
  type: 'object',
  properties: { a: { type: 'string', description: 'x'.repeat(bytes) } },
  required: ['a'],
})

test('inputSchemaOf: above 64 KiB the schema is not shown, in the same form', () => {
  const long = { type: 'array', items: wide(70_000) }

  expect(input(wide(60_000)).schema).toEqual(wide(60_000))
  expect(input(wide(70_000))).toMatchObject({ form: 'flat', schema: { type: 'object' } })
  expect(input(wide(70_000)).schema).not.toHaveProperty('properties')
  expect(input({ ...wide(1), description: 'é'.repeat(40_000) }).schema).not.toHaveProperty('properties')
  expect(input(long)).toMatchObject({ form: 'wrapped', schema: { required: ['input'] } })
  expect(JSON.stringify(input(long).schema).length).toBeLessThan(1000)
})

test('fittingOutputSchema: the schema of the output is not shown if both are above 64 KiB', () => {
  const output = outputSchemaOf(wide(40_000), budgetOf)
  const shown = fittingOutputSchema(output, wide(40_000))

  expect(fittingOutputSchema(output, wide(10_000))).toBe(output)
  expect(shown).toMatchObject({ type: 'object', properties: { output: {}, status: { type: 'string' } } })
  expect(JSON.stringify(shown).length).toBeLessThan(1000)
})
