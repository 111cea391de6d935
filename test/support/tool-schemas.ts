/** Published schemas with values that they accept, as tools show them: validators of clients must accept the values. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { checkInput } from '../../src/service/catalog/check-input.ts'
import { inputSchemaOf, outputSchemaOf } from '../../src/service/fronts/mcp/schemas/tool-schema.ts'
import { createBudget } from '../../src/shared/json-schema/check.ts'
import type { ShownSchema } from '../../src/shared/json-schema/published/schema-keywords.ts'
import { parseJson } from '../../src/shared/lib/json.ts'
import type { JsonSchema } from '../../src/shared/wire/catalog.ts'
import { STRINGS } from '../unit/corpora/zod-strings.ts'
import { COMPOSITES, NUMBERS } from '../unit/corpora/zod-values.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'
const PAIR = { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] }
// As an entry, because an object with `then` could be taken for a promise.
const THEN_B = Object.fromEntries([['then', { required: ['b'] }]])
const CENT = { type: 'number', multipleOf: 0.01 }

/** Schema and values as JSON, because numbers would be rounded. */
type Case = readonly [schema: object, ...values: string[]]

// Each has a keyword that validators read differently.
const WRITTEN: Record<string, Case> = {
  closedTuple: [{ ...PAIR, items: false, minItems: 2, maxItems: 2 }, '[1,"a"]'],
  openTuple: [PAIR, '[]', '[1,"a",null]'],
  tupleWithRest: [{ ...PAIR, items: { type: 'boolean' } }, '[1,"a",true,false]'],
  olderTuple: [{ $schema: DRAFT_07, type: 'array', items: [{ type: 'number' }], additionalItems: false }, '[1]'],
  tupleInTuple: [{ ...PAIR, prefixItems: [{ ...PAIR, items: false }], items: false }, '[[1,"a"]]'],
  cents: [CENT, '0.57', '19.99', '1e2'],
  notCents: [{ type: 'number', not: CENT }, '0.571'],
  letters: [{ type: 'string', pattern: '^\\p{L}+$' }, '"été"'],
  emoji: [{ type: 'string', minLength: 2 }, '"ab"'],
  keysByPattern: [
    { type: 'object', patternProperties: { '^\\p{L}$': { type: 'number' } }, additionalProperties: false },
    '{"é":1}',
  ],
  keysByLookahead: [
    { type: 'object', patternProperties: { '^(?=x)': { type: 'number' } }, additionalProperties: false },
    '{"x":1}',
  ],
  keysByDigits: [
    { type: 'object', patternProperties: { '^\\d$': { type: 'number' } }, additionalProperties: { type: 'string' } },
    '{"1":1,"٣":"a"}',
  ],
  keysByEnd: [{ type: 'object', patternProperties: { '^a$': { type: 'number' } } }, '{"a":1,"a\\n":"b"}'],
  otherDigits: [{ type: 'string', pattern: '^[\\w-]+\\d$' }, '"a-1"'],
  halves: [{ type: 'string', pattern: '^[^a]{2}$' }, '"😀"', '"bc"'],
  halvesOfEmoji: [{ type: 'array', items: { pattern: '^[😀]{2}$' } }, '["😀","😀😀"]'],
  lineSeparator: [{ type: 'string', pattern: '^a.b$' }, '"a\\rb"', '"a\\u2028b"'],
  notDigit: [{ type: 'string', pattern: '^\\D\\W$' }, '"٣é"'],
  insideWord: [{ type: 'string', pattern: 'a\\Bb' }, '"ab"'],
  namesByPattern: [{ type: 'object', propertyNames: { pattern: '^\\p{L}+$' } }, '{"é":1}'],
  notPattern: [{ type: 'string', not: { pattern: '^\\p{N}' } }, '"a1"'],
  eitherPattern: [
    {
      oneOf: [
        { type: 'string', pattern: '^\\p{L}' },
        { type: 'string', pattern: '^\\d' },
      ],
    },
    '"1"',
    '"é"',
  ],
  oneOfBeside: [{ anyOf: [{ type: 'number' }], oneOf: [CENT, { type: 'string' }] }, '0.57'],
  conditional: [{ if: { properties: { a: { pattern: '^\\p{L}' } } }, ...THEN_B }, '{"a":"1"}', '{"a":"é","b":1}'],
  exactCondition: [{ if: { required: ['a'] }, ...THEN_B }, '{}', '{"a":1,"b":2}'],
  unevaluated: [{ allOf: [{ patternProperties: { '^\\p{L}$': {} } }], unevaluatedProperties: false }, '{"é":1}'],
  unevaluatedItems: [{ ...PAIR, unevaluatedItems: false }, '[1,"a"]'],
  noContained: [{ type: 'array', contains: { type: 'number' }, minContains: 0, maxContains: 1 }, '[]', '["a",1]'],
  contained: [{ type: 'array', contains: { type: 'number', multipleOf: 0.01 }, maxContains: 1 }, '[0.57]'],
  notDependent: [{ type: 'object', not: { dependentRequired: { a: ['b'] } } }, '{"a":1}'],
  inheritedNames: [
    {
      type: 'object',
      properties: { constructor: { type: 'string' }, toString: { type: 'number' }, a: { type: 'number' } },
      dependentRequired: { valueOf: ['b'] },
      additionalProperties: false,
    },
    '{"a":1}',
    '{"constructor":"a"}',
  ],
  notInherited: [{ type: 'object', not: { required: ['toString'] } }, '{}'],
  largeInteger: [{ type: 'integer', const: 9007199254740991 }, '9007199254740991'],
  oddUnions: [{ type: ['array', 'null'] }, 'null', '[1]'],
  wholeFloat: [{ type: 'integer', minimum: 1 }, '1.0', '1'],
  constants: [{ enum: [0, 1.5, '0', null, { a: [1] }] }, '-0', '0.0', '1.50', '"0"', '{"a":[1.0]}'],
  formats: [{ type: 'string', format: 'date-time' }, '"2024-01-02T03:04:05Z"'],
  recursive: [
    { $defs: { Tree: { ...PAIR, items: { $ref: '#/$defs/Tree' } } }, $ref: '#/$defs/Tree' },
    '[1,"a",[2,"b"]]',
  ],
  ownRoot: [
    { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'number' } } },
    '{"next":{"next":{"n":1}}}',
  ],
}

// Published as JSON, because JavaScript would round their numbers. Only outputs are validated by clients.
const EXACT_NUMBERS: Record<string, readonly [schema: string, ...values: string[]]> = {
  unsafeConstant: ['{"const":9007199254740993}', '9007199254740993', '9007199254740993.0'],
  unsafeEnum: ['{"enum":[{"id":9007199254740993}]}', '{"id":9007199254740993}'],
  unsafeLimit: ['{"type":"integer","exclusiveMinimum":9007199254740992}', '9007199254740993'],
  limitOfManyDigits: ['{"type":"number","exclusiveMaximum":1}', '0.99999999999999999999'],
  unsafeSet: ['{"type":"array","uniqueItems":true}', '[9007199254740992,9007199254740993]'],
  surrogates: ['{"type":"string","minLength":2,"maxLength":2}', '"😀"', '"😀😀"'],
}

interface Corpus {
  cases: { name: string; schema: string; values: { json: string; fits: boolean }[] }[]
}

const PYDANTIC = JSON.parse(readFileSync(new URL('../unit/corpora/pydantic.json', import.meta.url), 'utf8')) as Corpus

interface Published {
  name: string
  schema: JsonSchema
  /** As JSON. */
  values: readonly string[]
}

const published: readonly Published[] = [
  ...Object.entries(WRITTEN).map(([name, [schema, ...values]]) => ({ name, schema: schema as JsonSchema, values })),
  ...Object.entries({ ...STRINGS, ...NUMBERS, ...COMPOSITES }).map(([name, [schema, accepted]]) => ({
    name: `zod ${name}`,
    schema: fromZod(schema),
    values: accepted.map((value) => JSON.stringify(value)),
  })),
  ...PYDANTIC.cases.map(({ name, schema, values }) => ({
    name: `pydantic ${name}`,
    schema: parseJson(schema) as JsonSchema,
    values: values.filter(({ fits }) => fits).map(({ json }) => json),
  })),
]

const exact: readonly Published[] = Object.entries(EXACT_NUMBERS).map(([name, [schema, ...values]]) => ({
  name,
  schema: parseJson(schema) as JsonSchema,
  values,
}))

function fromZod(schema: z.ZodType): JsonSchema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }))) as JsonSchema
}

/** What a client validates: a schema of a tool, and a value for it. Both as JSON. */
export interface ToolValue {
  name: string
  schema: string
  value: string
}

const budgetOf = () => createBudget(1_000_000)

/** Results of completed runs, with the output schemas of their tools. */
export function toolOutputs(): ToolValue[] {
  return [...published, ...exact].flatMap(({ name, schema, values }) => {
    const shown = JSON.stringify(outputSchemaOf(schema, budgetOf))
    return values.filter(isAccepted(schema)).map((value) => ({
      name,
      schema: shown,
      value: `{"workflowId":"w","runId":"r","status":"completed","output":${value}}`,
    }))
  })
}

/** Arguments of calls, with the input schemas of their tools. */
export function toolArguments(): ToolValue[] {
  return published.flatMap(({ name, schema, values }) => {
    const shown = inputSchemaOf(schema, { isOptional: false, requiresDefaults: false, budgetOf })
    const toArguments = (value: string) => (shown.form === 'wrapped' ? `{"input":${value}}` : value)
    return values
      .filter(isAccepted(schema))
      .map((value) => ({ name, schema: JSON.stringify(shown.schema), value: toArguments(value) }))
  })
}

function isAccepted(schema: ShownSchema | JsonSchema): (value: string) => boolean {
  return (value) => checkInput(parseJson(value), schema as JsonSchema).issues.length === 0
}
