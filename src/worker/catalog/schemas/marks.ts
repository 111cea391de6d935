/** Marks in a JSON Schema while it is made from a schema of a library: what it lacks, and what nothing matches. */
import { subschemasOf } from '../../../shared/json-schema/subschemas.ts'
import { isObject } from '../../../shared/lib/json.ts'

type Json = Record<string, unknown>

/** What the part does not check although the schema of the library does: names of that library. */
const UNCHECKED = 'portico:unchecked'

/** Why no JSON value matches the part. */
const NO_JSON = 'portico:no-json'

export function markUnchecked(json: object, ...names: string[]): void {
  Reflect.set(json, UNCHECKED, [...new Set([...namesIn(json), ...names])])
}

/** A part that no JSON value matches: it ends the worker, unless a schema around it accepts other values. */
export function noJson(name: string, message: string): Json {
  return { [UNCHECKED]: [name], [NO_JSON]: message }
}

/** Opens the parts of a branch that no JSON value matches: the schema has other branches. */
export function openNoJson(branch: unknown): void {
  if (!isObject(branch)) return
  delete branch[NO_JSON]
  for (const [keyword, value] of Object.entries(branch))
    for (const [, inner] of subschemasOf(keyword, value)) openNoJson(inner)
}

/** Makes the part accept anything. */
export function open(json: object, ...names: string[]): void {
  for (const key of Object.keys(json)) Reflect.deleteProperty(json, key)
  markUnchecked(json, ...names)
}

/** Removes the marks from the schema. Returns what is unchecked, such as `refine at /card`. */
export function takeUnchecked(schema: Json): string[] {
  const found = new Map<string, Set<string>>()
  const seen = new Set<unknown>()
  visit(schema, '')
  for (const [, inner] of subschemasOf('$defs', schema.$defs)) visit(inner, '')
  return [...found].map(([path, names]) => `${listed([...names])}${path === '' ? '' : ` at ${path}`}`)

  function visit(part: unknown, path: string): void {
    if (!isObject(part) || seen.has(part)) return
    seen.add(part)
    const names = namesIn(part)
    if (names.length > 0) found.set(path, new Set([...(found.get(path) ?? []), ...names]))
    delete part[UNCHECKED]
    visit(definition(schema, part.$ref), path)
    for (const [keyword, value] of Object.entries(part)) visitSubschemas(keyword, value, path)
  }

  function visitSubschemas(keyword: string, value: unknown, path: string): void {
    // Definitions apply where they are referred to.
    if (keyword === '$defs') return
    for (const [rest, inner] of subschemasOf(keyword, value)) visit(inner, path + placeOf(keyword, rest))
  }
}

/** "refine", "coerce and default" or "a, b and c". */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** Throws for a part that no JSON value matches. */
export function rejectNoJson(json: unknown): void {
  if (!isObject(json)) return
  if (typeof json[NO_JSON] === 'string') throw new TypeError(json[NO_JSON])
  for (const [keyword, value] of Object.entries(json))
    for (const [, inner] of subschemasOf(keyword, value)) rejectNoJson(inner)
}

function namesIn(json: object): string[] {
  const names: unknown = Reflect.get(json, UNCHECKED)
  return Array.isArray(names) ? names.map(String) : []
}

function definition(root: Json, reference: unknown): unknown {
  if (reference === '#') return root
  if (typeof reference !== 'string' || !reference.startsWith('#/$defs/') || !isObject(root.$defs)) return undefined
  return root.$defs[decodeURIComponent(reference.slice('#/$defs/'.length)).replaceAll('~1', '/').replaceAll('~0', '~')]
}

const OF_ITEMS = new Set(['items', 'additionalItems', 'unevaluatedItems', 'contains'])
const OF_PROPERTIES = new Set(['additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'])

/** Where a subschema of the keyword applies, below the place of the schema. */
function placeOf(keyword: string, rest: string): string {
  if (keyword === 'properties' || keyword === 'prefixItems') return rest
  return OF_ITEMS.has(keyword) || OF_PROPERTIES.has(keyword) ? '/*' : ''
}
