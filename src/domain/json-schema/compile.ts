/** JSON Schema 2020-12 to a check. Nothing is fetched: a schema has to hold what it refers to. */
import type { JsonSchema } from '../../protocol/catalog.ts'
import { KEYWORDS, SUBSCHEMAS } from './keywords.ts'
import { type Check, type Run, refuse, SchemaFault, type Seen, type Work } from './run.ts'
import { isObject, toDouble } from './shape.ts'

export interface Compiler {
  /** The check of a part of the schema. */
  checkOf(schema: unknown): Check
  /** The part that a `$ref` within `from` means. */
  resolve(reference: string, from: object): unknown
  work: Work
}

// Each level of the schema, and each `$ref` in between, is one: a circle that eats nothing of the value ends here.
const MAX_DEPTH = 1500

// Where what has no `$id` counts as being. It is no place that could be asked.
const BASE = 'https://schema.invalid/'

/** Throws a `SchemaFault` for a schema that is broken, refers to what is elsewhere, has what is not supported, or is too large. */
export function compileSchema(root: JsonSchema, work: Work): Check {
  const bases = new Map<object, string>()
  const places = new Map<string, unknown>()
  const checks = new Map<object, Check>()
  let tracks = false

  /** Finds what the ids and anchors of a schema and its parts name. */
  function index(schema: unknown, outer: string): void {
    if (!isObject(schema) || bases.has(schema)) return
    work.spend(60)
    const base = typeof schema.$id === 'string' ? urlOf(schema.$id, outer, work) : outer
    bases.set(schema, base)
    if (base !== outer || schema === root) places.set(withoutFragment(base), schema)
    for (const anchor of [schema.$anchor, schema.$dynamicAnchor])
      if (typeof anchor === 'string') places.set(urlOf(`#${anchor}`, base, work), schema)
    for (const [keyword, value] of Object.entries(schema)) {
      tracks ||= keyword.startsWith('unevaluated')
      for (const part of partsOf(keyword, value)) index(part, base)
    }
  }

  function resolve(reference: string, from: object): unknown {
    const url = urlOf(reference, bases.get(from) ?? BASE, work)
    const base = withoutFragment(url)
    const fragment = decodeURIComponent(url.slice(base.length + 1))
    const target = fragment.startsWith('/') ? atPointer(places.get(base), fragment) : places.get(fragment === '' ? base : url)
    if (target === undefined) throw new SchemaFault(`it does not hold what its $ref ${JSON.stringify(reference.slice(0, 200))} means`)
    // It may be where no keyword leads to.
    index(target, base)
    return target
  }

  function checkOf(schema: unknown): Check {
    if (schema === true) return () => true
    if (schema === false) return (_value, at, run) => refuse(run, at, 'is not allowed')
    if (!isObject(schema)) throw new SchemaFault('a part of it is neither an object nor a boolean')
    const known = checks.get(schema)
    if (known !== undefined) return known
    work.spend(10)
    const parts: Check[] = []
    const check: Check = (value, at, run, seen) => apply(parts, value, at, run, seen, tracks)
    // Known before its parts are made: they may refer to it.
    checks.set(schema, check)
    for (const [keyword, make] of KEYWORDS) {
      if (Object.hasOwn(schema, keyword)) parts.push(make(schema[keyword], schema, { checkOf, resolve, work }))
    }
    return check
  }

  index(root, BASE)
  return checkOf(root)
}

function apply(parts: Check[], given: unknown, at: Parameters<Check>[1], run: Run, outer: Seen | null, tracks: boolean): boolean {
  run.work.spend(3 + parts.length)
  if (++run.depth > MAX_DEPTH) throw new SchemaFault(`it leads more than ${MAX_DEPTH} levels down`)
  const value = typeof given === 'object' && JSON.isRawJSON(given) ? toDouble(given) : given
  const seen: Seen | null = tracks ? { keys: new Set(), items: new Set() } : null
  let fits = true
  for (const part of parts) if (!part(value, at, run, seen)) fits = false
  if (fits && seen !== null && outer !== null) {
    run.work.spend(3 * (seen.keys.size + seen.items.size))
    for (const key of seen.keys) outer.keys.add(key)
    for (const item of seen.items) outer.items.add(item)
  }
  run.depth--
  return fits
}

function partsOf(keyword: string, value: unknown): unknown[] {
  switch (SUBSCHEMAS.get(keyword)) {
    case 'one':
      return [value]
    case 'list':
      return Array.isArray(value) ? value : []
    case 'map':
      return isObject(value) ? Object.values(value) : []
    default:
      return []
  }
}

function atPointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function urlOf(reference: string, base: string, work: Work): string {
  work.spend(60 + reference.length / 10)
  try {
    return new URL(reference, base).href
  } catch (cause) {
    throw new SchemaFault(`${JSON.stringify(reference.slice(0, 200))} is no URL reference`, { cause })
  }
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] ?? url
}
