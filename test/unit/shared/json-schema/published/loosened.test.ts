import { expect, test } from 'vitest'
import { inputSchemaOf } from '../../../../../src/service/fronts/mcp/schemas/tool-schema.ts'
import { createBudget } from '../../../../../src/shared/json-schema/check.ts'
import { createIdentifiers } from '../../../../../src/shared/json-schema/published/identifiers.ts'
import { publishSchema } from '../../../../../src/shared/json-schema/published/published-schema.ts'
import type { ShownSchema } from '../../../../../src/shared/json-schema/published/schema-keywords.ts'
import { nested } from '../../../../support/hostile-catalogs.ts'

const budgetOf = () => createBudget(1_000_000)

// A pattern that does not compile with the flag `u`.
const USER = { pattern: '^[\\w-.]+$' }
const A_IS_USER = { properties: { a: USER } }
const A = { properties: { a: {} } }
const B = { required: ['b'] }
const DEEP_VALUE = nested(25, (inner) => ({ a: inner }), 1)
const DEEP_SCHEMA = nested(40, (items) => ({ items }), { type: 'string' })

const LOOSENED: Record<string, unknown> = {
  pattern: USER,
  'pattern beside a type': { type: 'string', ...USER },
  constant: { const: DEEP_VALUE },
  enum: { enum: [DEEP_VALUE] },
  'pattern of keys': { patternProperties: { [USER.pattern]: {} } },
  'deep schema': DEEP_SCHEMA,
  'foreign reference': { $ref: 'https://example.com/schema.json' },
  'reference to a pattern': { $ref: '#/$defs/user' },
  'reference through a loop': { $ref: '#/$defs/list' },
  dialect: { $schema: 'https://example.com/dialect' },
  'negation of a negation': { not: { not: USER } },
  'dynamic reference': { $dynamicRef: '#user' },
  'invalid list of keys': { dependentRequired: { a: 'b' } },
}

const $defs = {
  user: USER,
  list: { properties: { next: { $ref: '#/$defs/list' }, item: { $ref: '#/$defs/item' } } },
  item: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/user' }] },
}

test.for(Object.entries(LOOSENED))('publishSchema: a condition with a loosened %s is left out', ([, loosened]) => {
  const shown = published({ type: 'string', not: loosened, if: loosened, ...then(B), else: B, $defs })

  expect(shown).toEqual({ openApi: { type: 'string' }, mcp: { type: 'string' } })
})

test('publishSchema: a condition stays if its parts are shown whole, whatever is dropped beside it', () => {
  const { openApi, mcp } = published({
    ...A_IS_USER,
    not: { const: 5 },
    if: B,
    ...then(A_IS_USER),
    else: { type: 'object' },
  })
  const conditions = { not: { const: 5 }, if: B, else: { type: 'object' } }

  expect(openApi).toEqual({ ...A, ...conditions, ...then(A) })
  expect(mcp).toMatchObject({ ...conditions, ...then({ properties: { a: {} } }) })
})

test('publishSchema: names, descriptions and unknown keywords do not count as dropped', () => {
  const not = { const: 5, $id: 'x', $comment: 'five', $anchor: 'five', title: 5, 'x-five': 5, $defs: { user: USER } }

  expect(published({ not })).toMatchObject({ openApi: { not: { const: 5 } }, mcp: { not: { const: 5 } } })
})

test('publishSchema: a condition on a property with a dropped pattern is left out', () => {
  expect(published({ type: 'object', if: A_IS_USER, ...then(B) })).toEqual({
    openApi: { type: 'object' },
    mcp: { type: 'object' },
  })
})

test('publishSchema: a reference to a schema without loss stays in a negation', () => {
  const shown = published({ not: { $ref: '#/$defs/five' }, $defs: { five: { const: 5 } } })

  expect(shown.openApi).toEqual({ not: { $ref: '#/$defs/root_five' } })
})

test('publishSchema: oneOf becomes anyOf only if a part of it was dropped', () => {
  const parts = [
    { type: 'string', ...USER },
    { type: 'string', maxLength: 3 },
  ]
  const anyOf = [{ type: 'string' }, { type: 'string', maxLength: 3 }]

  expect(published({ oneOf: parts })).toEqual({ openApi: { anyOf }, mcp: { anyOf } })
  expect(published({ oneOf: parts, anyOf: [B] }).openApi).toEqual({ anyOf: [B], allOf: [{ anyOf }] })
  expect(published({ oneOf: anyOf }).openApi).toEqual({ oneOf: anyOf })
})

test('publishSchema: items that match a loosened schema have no upper limit', () => {
  expect(published({ contains: USER, maxContains: 1 }).openApi).toEqual({ contains: {} })
  expect(published({ contains: B, maxContains: 1 }).openApi).toEqual({ contains: B, maxContains: 1 })
})

test('publishSchema: what a dropped keyword may have evaluated is not rejected as unevaluated', () => {
  const closed = { unevaluatedProperties: false, unevaluatedItems: false }

  expect(published({ if: A_IS_USER, ...then(B), ...closed }).openApi).toEqual({})
  expect(published({ allOf: [{ patternProperties: { [USER.pattern]: {} } }], ...closed }).openApi).toEqual({
    allOf: [{}],
  })
  expect(published({ ...A_IS_USER, ...closed }).openApi).toEqual({ ...A, ...closed })
})

test('publishSchema: a field that is no longer required counts as dropped', () => {
  const not = { properties: { a: { default: 1 } }, required: ['a'] }

  expect(published({ not }, false).openApi).toEqual({ required: [] })
  expect(published({ not }).openApi).toEqual({ not })
})

function then(schema: object) {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { then: schema }
}

function published(schema: Record<string, unknown>, requiresDefaults = true) {
  const components: Record<string, ShownSchema> = {}
  const identifiers = createIdentifiers(['root'])
  publishSchema(schema, 'root', { identifiers, components, refPrefix: '#/$defs/', budgetOf, requiresDefaults })
  const { form, schema: tool } = inputSchemaOf(schema, { isOptional: false, requiresDefaults, budgetOf })
  return {
    openApi: components.root,
    mcp: form === 'flat' ? tool : (tool as { properties: ShownSchema }).properties.input,
  }
}
