/** JSON Schema 2020-12 and draft-07. */

import type { CompileKeyword } from './check.ts'
import { UnsupportedError } from './errors.ts'
import { contains, itemsFrom, prefixItems, unevaluatedItems } from './keywords/arrays.ts'
import { asArray, asEntries, asNumber, asString } from './keywords/keyword-value.ts'
import { type Keywords, SUBSCHEMA_KEYWORDS, VALUE_KEYWORDS } from './keywords/keywords.ts'
import { allOf } from './keywords/logic.ts'
import { ifHasProperty, required, unevaluatedProperties } from './keywords/objects.ts'

export interface Dialect {
  keywords: Keywords
  /** Whether a `$ref` disables all keywords beside it. */
  refStandsAlone: boolean
}

const $ref: CompileKeyword = (value, schema, { compile, resolve }) => compile(resolve(asString(value), schema))

const DRAFT_2020_12: Keywords = [
  ['$ref', $ref],
  ['$dynamicRef', unsupported],
  ...VALUE_KEYWORDS,
  ['prefixItems', (value, _schema, { compile }) => prefixItems(asArray(value).map(compile))],
  ['items', (value, { prefixItems = [] }, { compile }) => itemsFrom(asArray(prefixItems).length, compile(value))],
  [
    'contains',
    (value, { minContains = 1, maxContains = Infinity }, { compileExact }) =>
      contains(compileExact(value), asNumber(minContains), asNumber(maxContains)),
  ],
  ['dependentRequired', (value) => allOf(asEntries(value).map(([key, keys]) => ifHasProperty(key, requiredIn(keys))))],
  [
    'dependentSchemas',
    (value, _schema, { compile }) =>
      allOf(asEntries(value).map(([key, schema]) => ifHasProperty(key, compile(schema)))),
  ],
  ...SUBSCHEMA_KEYWORDS,
  // Last, because they check what all other keywords have left unevaluated.
  ['unevaluatedItems', (value, _schema, { compile }) => unevaluatedItems(compile(value))],
  ['unevaluatedProperties', (value, _schema, { compile }) => unevaluatedProperties(compile(value))],
]

const DRAFT_07: Keywords = [
  ['$ref', $ref],
  ...VALUE_KEYWORDS,
  [
    'items',
    (value, _schema, { compile }) =>
      Array.isArray(value) ? prefixItems(value.map(compile)) : itemsFrom(0, compile(value)),
  ],
  [
    'additionalItems',
    (value, { items }, { compile }) => (Array.isArray(items) ? itemsFrom(items.length, compile(value)) : () => true),
  ],
  ['contains', (value, _schema, { compileExact }) => contains(compileExact(value), 1, Infinity)],
  [
    'dependencies',
    (value, _schema, { compile }) =>
      allOf(
        asEntries(value).map(([key, dependency]) =>
          ifHasProperty(key, Array.isArray(dependency) ? requiredIn(dependency) : compile(dependency)),
        ),
      ),
  ],
  ...SUBSCHEMA_KEYWORDS,
]

function requiredIn(keys: unknown) {
  return required(asArray(keys).map(asString))
}

function unsupported(): never {
  // Resolving it wrongly would reject valid values, and we know no published schema that uses it.
  throw new UnsupportedError('$dynamicRef is not supported')
}

export const DEFAULT_DIALECT: Dialect = { keywords: DRAFT_2020_12, refStandsAlone: false }

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['//json-schema.org/draft/2020-12/schema', DEFAULT_DIALECT],
  ['//json-schema.org/draft-07/schema', { keywords: DRAFT_07, refStandsAlone: true }],
])

/** The dialect that a `$schema` names; null for an unknown one. */
export function dialectOf($schema: unknown): Dialect | null {
  const url = String($schema)
    .replace(/^https?:/, '')
    .replace(/#$/, '')
  return DIALECTS.get(url) ?? null
}
