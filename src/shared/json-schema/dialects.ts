/** JSON Schema 2020-12, 2019-09, draft-07 and draft-06. */

import type { CompileKeyword } from './check.ts'
import { UnsupportedError } from './errors.ts'
import { asArray, asEntries, asNumber, asString } from './keywords/keyword-value.ts'
import { type Keywords, SUBSCHEMA_KEYWORDS, VALUE_KEYWORDS } from './keywords/keywords.ts'
import { allOf } from './keywords/logic.ts'
import {
  contains,
  ifHasProperty,
  itemsFrom,
  prefixItems,
  required,
  unevaluatedItems,
  unevaluatedProperties,
} from './keywords/values.ts'

export interface Dialect {
  keywords: Keywords
  /** Whether a `$ref` disables all keywords beside it. */
  refStandsAlone: boolean
  /** Keywords of other drafts, which mean nothing in this one. */
  foreign: ReadonlySet<string>
}

const $ref: CompileKeyword = (value, schema, { compile, resolve }) => compile(resolve(asString(value), schema))

const DRAFT_2020_12: Keywords = [
  ['$ref', $ref],
  ['$dynamicRef', () => unsupported('$dynamicRef')],
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

/** Before 2020-12 a tuple is in `items`. */
const OLD_ITEMS: Keywords = [
  [
    'items',
    (value, _schema, { compile }) =>
      Array.isArray(value) ? prefixItems(value.map(compile)) : itemsFrom(0, compile(value)),
  ],
  [
    'additionalItems',
    (value, { items }, { compile }) => (Array.isArray(items) ? itemsFrom(items.length, compile(value)) : () => true),
  ],
]

const DRAFT_2019_09: Keywords = DRAFT_2020_12.flatMap(([keyword, compile]): Keywords => {
  if (keyword === '$dynamicRef') return [['$recursiveRef', () => unsupported('$recursiveRef')]]
  if (keyword === 'prefixItems') return []
  return keyword === 'items' ? OLD_ITEMS : [[keyword, compile]]
})

const DRAFT_07: Keywords = [
  ['$ref', $ref],
  ...VALUE_KEYWORDS,
  ...OLD_ITEMS,
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

function unsupported(keyword: string): never {
  // Resolving it wrongly would reject valid values, and we know no published schema that uses it.
  throw new UnsupportedError(`${keyword} is not supported`)
}

const SINCE_2019_09 = [
  ...['minContains', 'maxContains', 'dependentRequired', 'dependentSchemas'],
  ...['unevaluatedItems', 'unevaluatedProperties', '$recursiveRef'],
]
const SINCE_2020_12 = ['prefixItems', '$dynamicRef']
const SINCE_DRAFT_07 = ['if', 'then', 'else']

const foreign = (...keywords: string[]): ReadonlySet<string> => new Set(keywords)

export const DEFAULT_DIALECT: Dialect = {
  keywords: DRAFT_2020_12,
  refStandsAlone: false,
  foreign: foreign('dependencies', 'additionalItems', '$recursiveRef'),
}

const OLD_DIALECT: Dialect = {
  keywords: DRAFT_07,
  refStandsAlone: true,
  foreign: foreign(...SINCE_2019_09, ...SINCE_2020_12),
}

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  // Not the default itself: a schema that names its dialect is read as that one.
  ['//json-schema.org/draft/2020-12/schema', { ...DEFAULT_DIALECT }],
  [
    '//json-schema.org/draft/2019-09/schema',
    { keywords: DRAFT_2019_09, refStandsAlone: false, foreign: foreign('dependencies', ...SINCE_2020_12) },
  ],
  ['//json-schema.org/draft-07/schema', OLD_DIALECT],
  [
    '//json-schema.org/draft-06/schema',
    {
      keywords: DRAFT_07.filter(([keyword]) => keyword !== 'if'),
      refStandsAlone: true,
      foreign: foreign(...SINCE_DRAFT_07, ...SINCE_2019_09, ...SINCE_2020_12),
    },
  ],
])

/**
 * The dialect of a schema inside one of the dialect `outer`; null for an unknown one. Some libraries write draft-07
 * without saying so: a list of `items` shows it.
 */
export function dialectOf({ $schema, items }: Record<string, unknown>, outer: Dialect | null): Dialect | null {
  if ($schema === undefined) return outer === DEFAULT_DIALECT && Array.isArray(items) ? OLD_DIALECT : outer
  const url = String($schema)
    .replace(/^https?:/, '')
    .replace(/#$/, '')
  return DIALECTS.get(url) ?? null
}
