/** How each keyword is compiled: those that both dialects share. `format` and unknown keywords are annotations. */
import type { Check, CompileKeyword, Compiler } from '../check.ts'
import { SchemaError } from '../errors.ts'
import { oneOfValues } from './equality.ts'
import { asArray, asBoolean, asEntries, asString } from './keyword-value.ts'
import { allOf, anyOf, ifThenElse, not, oneOf } from './logic.ts'
import { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } from './numbers.ts'
import {
  additionalProperties,
  maxItems,
  maxLength,
  maxProperties,
  minItems,
  minLength,
  minProperties,
  pattern,
  patternProperties,
  properties,
  propertyNames,
  required,
  type,
  uniqueItems,
} from './values.ts'

/** Keywords in the order in which they are checked. */
export type Keywords = [keyword: string, compile: CompileKeyword][]

export const VALUE_KEYWORDS: Keywords = [
  ['type', type],
  ['enum', (value, _schema, compiler) => oneOfValues(asArray(value), compiler)],
  ['const', (value, _schema, compiler) => oneOfValues([value], compiler)],

  ['minimum', minimum],
  ['maximum', maximum],
  ['exclusiveMinimum', exclusiveMinimum],
  ['exclusiveMaximum', exclusiveMaximum],
  ['multipleOf', multipleOf],

  ['minLength', minLength],
  ['maxLength', maxLength],
  ['pattern', pattern],

  ['minItems', minItems],
  ['maxItems', maxItems],
  ['uniqueItems', (value, _schema, { exact }) => (asBoolean(value) ? uniqueItems(exact) : () => true)],

  ['minProperties', minProperties],
  ['maxProperties', maxProperties],
  ['required', (value) => required(asArray(value).map(asString))],
]

export const SUBSCHEMA_KEYWORDS: Keywords = [
  ['allOf', (value, _schema, { compile }) => allOf(asArray(value).map(compile))],
  ['anyOf', (value, _schema, { compile }) => anyOf(asArray(value).map(compile))],
  ['oneOf', (value, _schema, compiler) => oneOfOrAnyOf(asArray(value), compiler)],
  ['not', (value, _schema, { compileExact }) => not(compileExact(value))],
  [
    'if',
    (value, { then = true, else: otherwise = true }, { compile, compileExact }) =>
      ifThenElse(compileExact(value), compile(then), compile(otherwise)),
  ],

  ['propertyNames', (value, _schema, { compile }) => propertyNames(compile(value))],
  [
    'properties',
    (value, _schema, { compile }) => properties(asEntries(value).map(([key, schema]) => [key, compile(schema)])),
  ],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
]

/** If a schema in it cannot be evaluated exactly, matches cannot be counted: then at least one has to match. */
function oneOfOrAnyOf(schemas: unknown[], { exact, compile, compileExact }: Compiler): Check {
  try {
    return oneOf(schemas.map(compileExact))
  } catch (error) {
    if (exact || !(error instanceof SchemaError)) throw error
    return anyOf(schemas.map(compile))
  }
}
