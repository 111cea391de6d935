import { describe, expect, test } from 'vitest'
import { doubling, numbers } from '../../../../../dev/hostile-schemas.ts'
import type { JsonSchema } from '../../../../../src/shared/wire/catalog.ts'
import { nested } from '../../../../support/hostile-catalogs.ts'
import { openApiErrors } from '../../../../support/openapi-validators.ts'
import { documentOf, entry } from './catalog-document.ts'

const NAMES = [
  ...['a#b', 'a/b', '{id}', '{', '}', '"', "'", '\\', 'a b', '`', '<script>', '?a=b', '%2F', '~1', '..', '.', '\n'],
  ...['注文', 'عملية', '🦄', 'e\u0301', '\u00e9', 'toString', '__proto__', 'constructor', 'Workflow', '1st', '-', '_'],
  'x'.repeat(1000),
]

const NOT_ACCEPTED = ['', '$internal', '__temporal_x', '\ud800', '\0', 'x'.repeat(1001)]

const DEEP = nested(900, (inner) => ({ a: inner }), 1)

const KEYWORDS: JsonSchema = {
  type: 'text',
  required: 'name',
  enum: [],
  minLength: -1,
  multipleOf: 0,
  pattern: '(',
  properties: { a: 5, b: null, c: true, d: false, ['__proto__']: { type: 'string' } },
  items: [{ type: 'string' }],
  allOf: [],
  patternProperties: { '(': {} },
  dependentRequired: { a: 'b', c: ['d'] },
  discriminator: 5,
  xml: 'none',
  $id: 'https://example.com/schema',
  $anchor: 7,
  $vocabulary: {},
}

const SCHEMAS: Record<string, JsonSchema> = {
  wrong: KEYWORDS,
  remote: {
    properties: {
      host: { $ref: 'https://example.com/schema.json' },
      file: { $ref: 'file:///etc/passwd' },
      ours: { $ref: '#/components/schemas/StartRequest' },
      relative: { $ref: 'other.json#/$defs/x' },
      missing: { $ref: '#/$defs/missing', description: 'kept' },
      number: { $ref: 7 },
    },
  },
  loop: { $ref: '#' },
  chain: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
  dynamic: { $dynamicRef: '#x' },
  tree: {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
  },
  shared: { properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } } },
  draft07: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      pair: { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
      ref: { $ref: '#/definitions/name', maxLength: 5 },
      needs: { dependencies: { a: ['b'], c: { required: ['d'] } } },
    },
    definitions: { name: { type: 'string' } },
  },
  draft04: { $schema: 'http://json-schema.org/draft-04/schema#', exclusiveMinimum: true },
  deep: Object(nested(900, (inner) => ({ properties: { a: inner } }), { type: 'string' })),
  deepValues: { default: DEEP, enum: [DEEP], examples: [DEEP], const: DEEP },
}

describe('the OpenAPI document of a hostile catalog', async () => {
  const entries = Object.entries(SCHEMAS).map(([name, schema]) => entry(name, schema))
  const named = ['order', ...NAMES.slice(0, 2)].map((name) => ({
    ...entry(name),
    signals: [...NAMES, ...NOT_ACCEPTED].map((handler) => entry(handler, { type: 'number' })),
  }))
  const document = await documentOf([...entries, ...named])
  const { schemas } = document.components

  test('it is valid', async () => {
    expect(await openApiErrors(document)).toEqual([])
    expect(depthOf(document)).toBeLessThan(100)
  })

  test('any name that the service accepts has operations, with identifiers that differ (threat 81)', async () => {
    const all = await documentOf([...NAMES, ...NOT_ACCEPTED].map((name) => entry(name, { type: 'string' })))

    expect(Object.keys(all.paths).filter((path) => path.startsWith('/workflow/run#'))).toHaveLength(NAMES.length)
    const general = Object.keys((await documentOf([])).components.schemas)
    const names = Object.keys(all.components.schemas)
    expect(names.filter((name) => !general.includes(name) && !/^[A-Za-z]\w*$/.test(name))).toEqual([])
    for (const ids of [names, ...[document, all].map(identifiersOf)]) {
      expect(ids.filter((id) => !/^[A-Za-z]\w*$/.test(id))).toEqual([])
      expect(new Set(ids.map(folded)).size).toBe(ids.length)
    }
  })

  test('keywords that are not valid are left out', () => {
    expect(schemas.wrong_input).toEqual({
      properties: JSON.parse('{"a": {}, "b": {}, "c": {}, "d": {"not": {}}, "__proto__": {"type": "string"}}'),
      prefixItems: [{ type: 'string' }],
    })
  })

  test('references that leave the schema, or never end, are left out (threat 80)', () => {
    expect(schemas.remote_input.properties).toEqual({
      ...{ host: {}, file: {}, ours: {}, relative: {}, missing: { description: 'kept' }, number: {} },
    })
    expect(schemas.loop_input).toEqual({})
    expect([schemas.chain_input, schemas.chain_input_a, schemas.chain_input_b]).toEqual([
      { $ref: '#/components/schemas/chain_input_a' },
      {},
      { allOf: [{ $ref: '#/components/schemas/chain_input_a' }] },
    ])
    expect(JSON.stringify(document)).not.toMatch(/example\.com|etc\/passwd/)
  })

  test('recursive schemas become recursive components', () => {
    expect(schemas.tree_input_node.properties.children.items).toEqual({ $ref: '#/components/schemas/tree_input_node' })
  })

  test('a part that is referenced is written once, also where it stands', () => {
    expect(schemas.shared_input.properties).toEqual({
      a: { $ref: '#/components/schemas/shared_input_a' },
      b: { $ref: '#/components/schemas/shared_input_a' },
    })
  })

  test('draft-07 is shown in the words of 2020-12, unknown dialects are not shown', () => {
    expect(schemas.draft07_input.properties).toEqual({
      pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: { not: {} } },
      ref: { $ref: '#/components/schemas/draft07_input_name' },
      needs: { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
    })
    expect(schemas.draft04_input).toEqual({ description: expect.stringContaining('dialect') })
  })

  test('the document does not grow faster than the catalog (threat 81)', async () => {
    const general = JSON.stringify(await documentOf([])).length
    const large = [
      Object(doubling('allOf', 500, { type: 'string' })),
      { $defs: Object.fromEntries(numbers(2000).map((n) => [n, { $ref: `#/$defs/${(n * 7) % 2000}` }])) },
      { anyOf: numbers(2000).map(() => ({ $ref: '#' })) },
      { properties: Object.fromEntries(numbers(5000).map((n) => [`p${n}`, { $ref: '#/properties/p0' }])) },
    ]
    for (const schema of large) {
      const size = JSON.stringify(await documentOf([entry('large', schema)])).length - general
      expect(size).toBeLessThan(5 * JSON.stringify(schema).length + 20_000)
    }
  })

  test('at most 2000 operations are listed, and the document says how many are not (threat 81)', async () => {
    const large = await documentOf(numbers(3000).map((n) => entry(`w${n}`)))

    expect(large['x-catalog'].omittedOperations).toBe(4000)
    expect(JSON.stringify(large).length).toBeLessThan(10_000_000)
  })
})

/** The ids of operations, and the names of schemas in another space of names. */
function identifiersOf({ paths }: { paths: Record<string, Record<string, { operationId: string }>> }): string[] {
  return Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
}

function folded(identifier: string): string {
  return identifier.replaceAll('_', '').toLowerCase()
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
