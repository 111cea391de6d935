import { expect, test } from 'vitest'
import { createBudget } from '../../../src/json-schema/check.ts'
import { type ArgumentForm, inputSchemaOf, outputSchemaOf } from '../../../src/mcp/tool-schema.ts'
import type { JsonSchema } from '../../../src/protocol/catalog.ts'

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

test('inputSchemaOf: a schema that takes too much work is described as such', () => {
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
    properties: { output: { type: 'object', properties: { format: { type: 'string' } } } },
  })
  expect(JSON.stringify(outputSchemaOf(published, budgetOf))).not.toContain('email')
  expect(outputSchemaOf(null, budgetOf)).toMatchObject({ properties: { output: {} } })
})
