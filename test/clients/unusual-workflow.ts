/** A published workflow with the schemas that generators read differently, or not at all. Nothing runs it. */
import type { CatalogEntry } from '../../src/shared/wire/catalog.ts'

const TREE = {
  type: 'object',
  properties: { value: { type: ['string', 'null'] }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
  required: ['children'],
}

const properties = {
  types: { type: ['string', 'number'] },
  typesOrNull: { type: ['string', 'integer', 'null'], description: 'An id' },
  objectOrString: { type: ['object', 'string'], properties: { a: { type: 'string' } }, required: ['a'] },
  constant: { const: 5 },
  constantNull: { const: null },
  tuple: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
  record: { type: 'object', additionalProperties: { type: 'number' }, propertyNames: { pattern: '^a' } },
  anything: {},
  always: true,
  never: false,
  nothing: { type: 'null' },
  date: { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  bytes: { type: 'string', format: 'binary' },
  integer: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
  intersection: {
    allOf: [
      { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
      { type: 'object', properties: { y: { type: 'number' } } },
    ],
  },
  union: {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'a' }, v: { type: 'string' } }, required: ['kind'] },
      { type: 'object', properties: { kind: { const: 'b' }, w: { type: 'number' } }, required: ['kind'] },
    ],
  },
  objectOrNull: { anyOf: [{ type: 'object', properties: { q: { type: 'string' } } }, { type: 'null' }] },
  lookAhead: { type: 'string', pattern: '^(?=a)\\p{L}+$' },
  tree: { $ref: '#/$defs/Tree' },
  class: { type: 'string' },
  'a-b': { type: 'string' },
  '1st': { type: 'string' },
}

export const unusualWorkflow: CatalogEntry = {
  name: 'unusual',
  description: null,
  aliases: [],
  inputOptional: null,
  inputSchema: { type: 'object', properties, required: ['types'], $defs: { Tree: TREE } },
  outputSchema: { type: ['string', 'number', 'null'] },
  signals: [],
  queries: [
    {
      name: 'q-1',
      description: null,
      inputSchema: null,
      inputOptional: null,
      outputSchema: { type: ['boolean', 'array'], items: { type: 'string' } },
    },
  ],
  updates: [],
}
