/** The keywords of JSON Schema 2020-12 and of draft-07. What is none of them says nothing, and so does `format`. */
import { contains, itemsFrom, prefixItems, unevaluatedItems, uniqueItems } from './arrays.ts'
import type { Compiler } from './compile.ts'
import { oneOfValues } from './equality.ts'
import { anyOf, every, ifThenElse, not, oneOf } from './logic.ts'
import { bound, multipleOf, numeric } from './numbers.ts'
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
import { type Check, SchemaFault, Unsupported } from './run.ts'
import { charactersOf, itemsOf, limit, pattern, propertiesOf, type } from './scalars.ts'
import { entries, flag, list, number, text } from './shape.ts'

type Schema = Record<string, unknown>
type Make = (value: unknown, schema: Schema, compiler: Compiler) => Check

/** In which keywords schemas stand, and how. */
export const SUBSCHEMAS: ReadonlyMap<string, 'list' | 'map' | 'one'> = new Map<string, 'list' | 'map' | 'one'>([
  ...of(
    'one',
    'additionalItems',
    'additionalProperties',
    'contains',
    'else',
    'if',
    'items',
    'not',
    'propertyNames',
    'then',
  ),
  ...of('one', 'unevaluatedItems', 'unevaluatedProperties'),
  ...of('list', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...of('map', '$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'),
])

const REFERENCE: [string, Make] = [
  '$ref',
  (value, schema, { checkOf, resolve }) => checkOf(resolve(text(value), schema)),
]

const OF_VALUES: [string, Make][] = [
  ['type', (value, _schema, { exact }) => type(value, exact)],
  ['enum', (value, _schema, compiler) => oneOfValues(list(value), compiler)],
  ['const', (value, _schema, compiler) => oneOfValues([value], compiler)],

  ['minimum', (value, _schema, { exact }) => bound(numeric(value), (above) => above >= 0, 'must be at least', exact)],
  ['maximum', (value, _schema, { exact }) => bound(numeric(value), (above) => above <= 0, 'must be at most', exact)],
  [
    'exclusiveMinimum',
    (value, _schema, { exact }) => bound(numeric(value), (above) => above > 0, 'must be more than', exact),
  ],
  [
    'exclusiveMaximum',
    (value, _schema, { exact }) => bound(numeric(value), (above) => above < 0, 'must be less than', exact),
  ],
  ['multipleOf', multipleOf],

  ['minLength', (value, _schema, { exact }) => limit('character', charactersOf, 'at least', number(value), exact)],
  ['maxLength', (value, _schema, { exact }) => limit('character', charactersOf, 'at most', number(value), exact)],
  ['pattern', pattern],

  ['minItems', (value, _schema, { exact }) => limit('item', itemsOf, 'at least', number(value), exact)],
  ['maxItems', (value, _schema, { exact }) => limit('item', itemsOf, 'at most', number(value), exact)],
  ['uniqueItems', (value, _schema, { exact }) => (flag(value) ? uniqueItems(exact) : () => true)],

  ['minProperties', (value, _schema, { exact }) => limit('property', propertiesOf, 'at least', number(value), exact)],
  ['maxProperties', (value, _schema, { exact }) => limit('property', propertiesOf, 'at most', number(value), exact)],
  ['required', (value) => required(list(value).map(text))],
]

const OF_PARTS: [string, Make][] = [
  ['allOf', (value, _schema, { checkOf }) => every(list(value).map(checkOf))],
  ['anyOf', (value, _schema, { checkOf }) => anyOf(list(value).map(checkOf))],
  ['oneOf', (value, _schema, compiler) => oneOfOrAny(list(value), compiler)],
  ['not', (value, _schema, { exactCheckOf }) => not(exactCheckOf(value))],
  [
    'if',
    (value, { then = true, else: otherwise = true }, { checkOf, exactCheckOf }) =>
      ifThenElse(exactCheckOf(value), checkOf(then), checkOf(otherwise)),
  ],

  ['propertyNames', (value, _schema, { checkOf }) => propertyNames(checkOf(value))],
  [
    'properties',
    (value, _schema, { checkOf }) => properties(entries(value).map(([key, schema]) => [key, checkOf(schema)])),
  ],
  ['patternProperties', (value, _schema, compiler) => patternProperties(patternsOf(value, compiler), compiler.exact)],
  ['additionalProperties', additionalProperties],
]

/** In the order in which they are checked: the last ones ask what the others have left. */
const DRAFT_2020_12: [string, Make][] = [
  REFERENCE,
  ['$dynamicRef', unsupported],
  ...OF_VALUES,
  ['prefixItems', (value, _schema, { checkOf }) => prefixItems(list(value).map(checkOf))],
  ['items', (value, { prefixItems = [] }, { checkOf }) => itemsFrom(list(prefixItems).length, checkOf(value))],
  [
    'contains',
    (value, { minContains = 1, maxContains = Infinity }, { exactCheckOf }) =>
      contains(exactCheckOf(value), number(minContains), number(maxContains)),
  ],
  [
    'dependentRequired',
    (value) => every(entries(value).map(([key, keys]) => whenHas(key, required(list(keys).map(text))))),
  ],
  [
    'dependentSchemas',
    (value, _schema, { checkOf }) => every(entries(value).map(([key, schema]) => whenHas(key, checkOf(schema)))),
  ],
  ...OF_PARTS,
  ['unevaluatedItems', (value, _schema, { checkOf }) => unevaluatedItems(checkOf(value))],
  ['unevaluatedProperties', (value, _schema, { checkOf }) => unevaluatedProperties(checkOf(value))],
]

const DRAFT_07: [string, Make][] = [
  REFERENCE,
  ...OF_VALUES,
  [
    'items',
    (value, _schema, { checkOf }) =>
      Array.isArray(value) ? prefixItems(value.map(checkOf)) : itemsFrom(0, checkOf(value)),
  ],
  [
    'additionalItems',
    (value, { items }, { checkOf }) => (Array.isArray(items) ? itemsFrom(items.length, checkOf(value)) : () => true),
  ],
  ['contains', (value, _schema, { exactCheckOf }) => contains(exactCheckOf(value), 1, Infinity)],
  [
    'dependencies',
    (value, _schema, { checkOf }) =>
      every(
        entries(value).map(([key, needed]) =>
          whenHas(key, Array.isArray(needed) ? required(needed.map(text)) : checkOf(needed)),
        ),
      ),
  ],
  ...OF_PARTS,
]

export interface Dialect {
  keywords: [string, Make][]
  /** A `$ref` stands for all of its schema: what is beside it says nothing. */
  refStandsAlone: boolean
}

export const DEFAULT_DIALECT: Dialect = { keywords: DRAFT_2020_12, refStandsAlone: false }

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['//json-schema.org/draft/2020-12/schema', DEFAULT_DIALECT],
  ['//json-schema.org/draft-07/schema', { keywords: DRAFT_07, refStandsAlone: true }],
])

/** What a `$schema` names; null for what is not known here. */
export function dialectOf(schema: unknown): Dialect | null {
  return (
    DIALECTS.get(
      String(schema)
        .replace(/^https?:/, '')
        .replace(/#$/, ''),
    ) ?? null
  )
}

/** Where nothing may be skipped, and so not every alternative can be judged, at least one of them has to fit. */
function oneOfOrAny(schemas: unknown[], { exact, checkOf, exactCheckOf }: Compiler): Check {
  try {
    return oneOf(schemas.map(exactCheckOf))
  } catch (error) {
    if (exact || !(error instanceof SchemaFault)) throw error
    return anyOf(schemas.map(checkOf))
  }
}

function unsupported(): never {
  // To follow it along the dynamic scope is no use to anyone we know; to follow it otherwise would refuse what is right.
  throw new Unsupported('$dynamicRef is not supported')
}

function of<Kind extends string>(kind: Kind, ...keywords: string[]): [string, Kind][] {
  return keywords.map((keyword) => [keyword, kind])
}
