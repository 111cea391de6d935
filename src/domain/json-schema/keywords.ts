/** The keywords of JSON Schema 2020-12. What is none of them says nothing. */
import { contains, itemsFrom, prefixItems, unevaluatedItems, uniqueItems } from './arrays.ts'
import type { Compiler } from './compile.ts'
import { anyOf, every, ifThenElse, not, oneOf } from './logic.ts'
import {
  additionalProperties,
  patternProperties,
  patternsOf,
  properties,
  propertyNames,
  required,
  unevaluatedProperties,
  whenHas,
} from './objects.ts'
import { type Check, SchemaFault } from './run.ts'
import { charactersOf, format, itemsOf, limit, multipleOf, numberOf, oneOfValues, pattern, propertiesOf, type } from './scalars.ts'
import { entries, list, number, text } from './shape.ts'

type Schema = Record<string, unknown>
type Make = (value: unknown, schema: Schema, compiler: Compiler) => Check

/** In which keywords schemas stand, and how. */
export const SUBSCHEMAS: ReadonlyMap<string, 'list' | 'map' | 'one'> = new Map<string, 'list' | 'map' | 'one'>([
  ...of('one', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'),
  ...of('one', 'unevaluatedItems', 'unevaluatedProperties'),
  ...of('list', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...of('map', '$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'),
])

/** In the order in which they are checked: the last ones ask what the others have left. */
export const KEYWORDS: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['$ref', (value, schema, { checkOf, resolve }) => checkOf(resolve(text(value), schema))],
  ['$dynamicRef', unsupported],
  ['type', type],
  ['enum', (value, _schema, compiler) => oneOfValues(list(value), 'must be one of the values of its enum', compiler)],
  ['const', (value, _schema, compiler) => oneOfValues([value], 'must be the one value it may have', compiler)],

  ['allOf', (value, _schema, { checkOf }) => every(list(value).map(checkOf))],
  ['anyOf', (value, _schema, { checkOf }) => anyOf(list(value).map(checkOf))],
  ['oneOf', (value, _schema, { checkOf }) => oneOf(list(value).map(checkOf))],
  ['not', (value, _schema, { checkOf }) => not(checkOf(value))],
  ['if', (value, { then = true, else: otherwise = true }, { checkOf }) => ifThenElse(checkOf(value), checkOf(then), checkOf(otherwise))],

  ['minimum', (value) => limit(numberOf, number(value), (it, least) => it >= least, 'must be at least')],
  ['maximum', (value) => limit(numberOf, number(value), (it, most) => it <= most, 'must be at most')],
  ['exclusiveMinimum', (value) => limit(numberOf, number(value), (it, bound) => it > bound, 'must be more than')],
  ['exclusiveMaximum', (value) => limit(numberOf, number(value), (it, bound) => it < bound, 'must be less than')],
  ['multipleOf', multipleOf],

  [
    'minLength',
    (value) => limit(charactersOf, number(value), (size, least) => size >= least, 'the number of its characters must be at least'),
  ],
  [
    'maxLength',
    (value) => limit(charactersOf, number(value), (size, most) => size <= most, 'the number of its characters must be at most'),
  ],
  ['pattern', pattern],
  ['format', format],

  ['minItems', (value) => limit(itemsOf, number(value), (size, least) => size >= least, 'the number of its items must be at least')],
  ['maxItems', (value) => limit(itemsOf, number(value), (size, most) => size <= most, 'the number of its items must be at most')],
  ['uniqueItems', (value) => (value === true ? uniqueItems : () => true)],
  ['prefixItems', (value, _schema, { checkOf }) => prefixItems(list(value).map(checkOf))],
  ['items', (value, { prefixItems = [] }, { checkOf }) => itemsFrom(list(prefixItems).length, checkOf(value))],
  [
    'contains',
    (value, { minContains = 1, maxContains = Infinity }, { checkOf }) => contains(checkOf(value), number(minContains), number(maxContains)),
  ],

  [
    'minProperties',
    (value) => limit(propertiesOf, number(value), (size, least) => size >= least, 'the number of its properties must be at least'),
  ],
  [
    'maxProperties',
    (value) => limit(propertiesOf, number(value), (size, most) => size <= most, 'the number of its properties must be at most'),
  ],
  ['required', (value) => required(list(value).map(text))],
  ['dependentRequired', (value) => every(entries(value).map(([key, keys]) => whenHas(key, required(list(keys).map(text)))))],
  ['dependentSchemas', (value, _schema, { checkOf }) => every(entries(value).map(([key, schema]) => whenHas(key, checkOf(schema))))],
  ['propertyNames', (value, _schema, { checkOf }) => propertyNames(checkOf(value))],
  ['properties', (value, _schema, { checkOf }) => properties(entries(value).map(([key, schema]) => [key, checkOf(schema)]))],
  ['patternProperties', (value, _schema, compiler) => patternProperties(patternsOf(value, compiler))],
  ['additionalProperties', additionalProperties],

  ['unevaluatedItems', (value, _schema, { checkOf }) => unevaluatedItems(checkOf(value))],
  ['unevaluatedProperties', (value, _schema, { checkOf }) => unevaluatedProperties(checkOf(value))],
])

function unsupported(): never {
  // To follow it along the dynamic scope is no use to anyone we know; to follow it otherwise would refuse what is right.
  throw new SchemaFault('$dynamicRef is not supported')
}

function of<Kind extends string>(kind: Kind, ...keywords: string[]): [string, Kind][] {
  return keywords.map((keyword) => [keyword, kind])
}
