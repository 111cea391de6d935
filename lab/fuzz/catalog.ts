/** The catalog of the examples, and schemas that a document or a generator may stumble over. */
import { catalog as examples } from '../../examples/catalog.ts'
import type { CatalogDefinition } from '../../src/shared/wire/catalog.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import type * as workflows from './workflows.ts'

const hostile = defineCatalog<typeof workflows>({
  // Without a schema: whatever is generated starts it.
  echo: { description: 'Returns its argument.', aliases: ['ünï/cödé {x} #1 %2F?'] },
  // Local references to itself, an anchor, and definitions with names that need escaping.
  recursive: {
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://schemas.invalid/tree',
      $anchor: 'tree',
      type: 'object',
      required: ['label'],
      properties: {
        label: { $ref: '#/$defs/a~1b%25' },
        children: { type: 'array', maxItems: 2, items: { $ref: '#tree' } },
      },
      additionalProperties: false,
      $defs: { 'a/b%': { type: 'string', pattern: '^[a-z]{1,9}$' } },
    },
    output: true,
  },
  // Another dialect: a tuple, and a sibling of $ref that does not count.
  older: {
    input: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { text: { type: 'string', maxLength: 5 } },
      type: 'array',
      items: [{ $ref: '#/definitions/text', maxLength: 0 }, { type: 'integer' }],
      additionalItems: false,
      minItems: 2,
    },
  },
  // Keywords that depend on each other, and values of every type.
  strict: {
    input: {
      anyOf: [
        { type: ['string', 'null'], minLength: 1, maxLength: 20 },
        { type: 'integer', exclusiveMinimum: -5, multipleOf: 3 },
        {
          type: 'object',
          properties: { kind: { enum: ['a', 'b', 1, null, { deep: [true] }] }, toString: { const: 0 } },
          required: ['kind'],
          if: { properties: { kind: { const: 'a' } } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { required: ['toString'] },
          dependentRequired: { toString: ['kind'] },
          unevaluatedProperties: false,
        },
      ],
    },
    output: true,
  },
  nothing: { input: false },
})

export const catalog: CatalogDefinition = {
  workflows: [...examples.workflows, ...hostile.workflows],
  workflowNames: { ...examples.workflowNames, ...hostile.workflowNames },
}
