/** Where each subschema is, and what `$ref` refers to. Nothing is fetched: a schema must contain what it refers to. */
import { isObject, pointerKeys } from '../lib/json.ts'
import { type Budget, COST } from './check.ts'
import { DEFAULT_DIALECT, type Dialect, dialectOf } from './dialects.ts'
import { SchemaError } from './errors.ts'
import { subschemasOf } from './subschemas.ts'

export interface SchemaIndex {
  positionOf(schema: object): Position
  /** The subschema that a `$ref` in `from` refers to. */
  resolve(reference: string, from: object): unknown
  /** Whether a keyword needs to know what the others have evaluated. */
  usesUnevaluated: boolean
}

/** Where a subschema is, and how to read it. */
interface Position {
  /** References resolve against this URL. */
  base: string
  /** Null: unknown. */
  dialect: Dialect | null
  /** JSON Pointer. */
  pointer: string
}

// The base of a schema without `$id`. The host does not exist.
const DEFAULT_BASE = 'https://schema.invalid/'

const ROOT: Position = { base: DEFAULT_BASE, dialect: DEFAULT_DIALECT, pointer: '' }

export function indexSchema(root: unknown, budget: Budget): SchemaIndex {
  const positions = new Map<object, Position>()
  /** Subschemas by URL, with and without a fragment. */
  const targets = new Map<string, unknown>()
  const schemaIndex: SchemaIndex = { positionOf, resolve, usesUnevaluated: false }

  function add(schema: unknown, outer: Position): void {
    if (!isObject(schema) || positions.has(schema)) return
    budget.spend(COST.indexSubschema)
    const dialect = dialectOf(schema, outer.dialect)
    const base = dialect !== null && refStandsAlone(schema, dialect) ? outer.base : baseOf(schema, outer.base)
    const position: Position = { base, dialect, pointer: outer.pointer }
    positions.set(schema, position)
    if (base !== outer.base || schema === root) targets.set(withoutFragment(base), schema)
    for (const anchor of anchorsOf(schema)) targets.set(resolveUrl(`#${anchor}`, base, budget), schema)
    for (const [keyword, value] of Object.entries(schema)) addSubschemas(keyword, value, position)
  }

  function addSubschemas(keyword: string, value: unknown, outer: Position): void {
    schemaIndex.usesUnevaluated ||= keyword.startsWith('unevaluated')
    for (const [rest, subschema] of subschemasOf(keyword, value)) {
      add(subschema, { ...outer, pointer: `${outer.pointer}/${keyword}${rest}` })
    }
  }

  /** An invalid `$id` gives the subschema a base of its own. */
  function baseOf({ $id }: Record<string, unknown>, outer: string): string {
    if (typeof $id !== 'string' || $id.startsWith('#')) return outer
    try {
      return resolveUrl($id, outer, budget)
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      return `${DEFAULT_BASE}${positions.size}/`
    }
  }

  function positionOf(schema: object): Position {
    return positions.get(schema) ?? ROOT
  }

  function resolve(reference: string, from: object): unknown {
    const position = positionOf(from)
    const url = resolveUrl(reference, position.base, budget)
    const base = withoutFragment(url)
    const fragment = decodeFragment(url.slice(base.length + 1))
    const target = fragment.startsWith('/')
      ? valueAt(targets.get(base), fragment)
      : targets.get(fragment === '' ? base : url)
    if (target === undefined) {
      throw new SchemaError(`cannot resolve ${JSON.stringify(reference.slice(0, 200))} within the schema`)
    }
    // A pointer may lead to a value that is below no known keyword, and therefore not indexed.
    add(target, { ...position, base, pointer: fragment })
    return target
  }

  add(root, ROOT)
  return schemaIndex
}

/** Before 2019-09 the keywords beside a `$ref` are ignored. */
export function refStandsAlone(schema: object, dialect: Dialect): boolean {
  return dialect.refStandsAlone && Object.hasOwn(schema, '$ref')
}

/** Before 2019-09 an `$id` that is only a fragment is an anchor. */
function anchorsOf({ $id, $anchor, $dynamicAnchor }: Record<string, unknown>): string[] {
  const fragment = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : ''
  return [fragment, $anchor, $dynamicAnchor].filter((anchor) => typeof anchor === 'string' && anchor !== '') as string[]
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch (cause) {
    throw new SchemaError(`${JSON.stringify(fragment.slice(0, 200))} is not a valid URI fragment`, { cause })
  }
}

function resolveUrl(reference: string, base: string, budget: Budget): string {
  budget.spend(COST.resolveUrl(reference.length))
  try {
    return new URL(reference, base).href
  } catch (cause) {
    throw new SchemaError(`${JSON.stringify(reference.slice(0, 200))} is not a valid URI reference`, { cause })
  }
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? url
}
