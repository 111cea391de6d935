/** Compiles a JSON Schema to a check. Nothing is fetched: a schema has to hold what it refers to. */

import { isObject } from '../lib/is-object.ts'
import { escapePointer, pointerKeys } from '../lib/json-pointer.ts'
import { DEFAULT_DIALECT, type Dialect, dialectOf, SUBSCHEMAS } from './keywords.ts'
import {
  type Check,
  Circle,
  type Place,
  type Run,
  refuse,
  SchemaFault,
  type Seen,
  Unsupported,
  type Work,
} from './run.ts'

export type JsonSchema = Record<string, unknown> | boolean

export interface CompiledSchema {
  check: Check
  /** What is skipped because it can't be evaluated: where it is, and why. */
  skipped: string[]
  /** Those of `skipped` that are broken, rather than more than the API supports. */
  broken: string[]
}

export interface Compiler {
  /** Nothing may be skipped: a wider check of this part would narrow the schema around it. */
  exact: boolean
  /** The check of a part of the schema. */
  checkOf(schema: unknown): Check
  /** The check of a part of which nothing may be skipped. Throws a `SchemaFault` where something would have to be. */
  exactCheckOf(schema: unknown): Check
  /** The part that a `$ref` within `from` means. */
  resolve(reference: string, from: object): unknown
  work: Work
}

// Each level of the schema, and each `$ref` in between, is one.
const MAX_DEPTH = 1500

// Where what has no `$id` counts as being. It is no place that could be asked.
const BASE = 'https://schema.invalid/'

// These, and the keywords that hold schemas, tell what `unevaluated…` leaves alone.
const REFERENCES = new Set(['$ref', '$dynamicRef'])

// More would not help anyone.
const MAX_TOLD = 10

/** Where a part of the schema is, and how it is to be read. */
interface Part {
  base: string
  /** Null: unknown. */
  dialect: Dialect | null
  pointer: string
}

/**
 * A keyword that can't be evaluated is skipped, for then more passes; below `not` and the like the keyword that holds it is.
 *
 * Throws a `SchemaFault` for an unknown dialect, `TooMuchWork` for a schema that is too large.
 */
export function compileSchema(root: JsonSchema, work: Work): CompiledSchema {
  const parts = new Map<object, Part>()
  const places = new Map<string, unknown>()
  const skipped: string[] = []
  const broken: string[] = []
  let tracks = false

  /** Finds what the ids and anchors of a schema and its parts name. */
  function index(schema: unknown, { base: outer, dialect: outerDialect, pointer }: Part): void {
    if (!isObject(schema) || parts.has(schema)) return
    work.spend(60)
    const dialect = schema.$schema === undefined ? outerDialect : dialectOf(schema.$schema)
    const base = dialect !== null && isReferenceAlone(schema, dialect) ? outer : baseOf(schema, outer)
    const part = { base, dialect, pointer }
    parts.set(schema, part)
    if (part.base !== outer || schema === root) places.set(withoutFragment(part.base), schema)
    for (const anchor of anchorsOf(schema)) places.set(urlOf(`#${anchor}`, part.base, work), schema)
    for (const [keyword, value] of Object.entries(schema)) {
      tracks ||= keyword.startsWith('unevaluated')
      for (const [key, inner] of partsOf(keyword, value))
        index(inner, { ...part, pointer: `${pointer}/${keyword}${key}` })
    }
  }

  /** An invalid `$id` still begins a schema of its own, which references inside it resolve against. */
  function baseOf({ $id }: Record<string, unknown>, outer: string): string {
    if (typeof $id !== 'string' || $id.startsWith('#')) return outer
    const url = faultOr(() => urlOf($id, outer, work))
    return url instanceof SchemaFault ? `${BASE}${parts.size}/` : url
  }

  function resolve(reference: string, from: object): unknown {
    const part = partOf(from)
    const url = urlOf(reference, part.base, work)
    const base = withoutFragment(url)
    const fragment = decoded(url.slice(base.length + 1))
    const target = fragment.startsWith('/')
      ? atPointer(places.get(base), fragment)
      : places.get(fragment === '' ? base : url)
    if (target === undefined)
      throw new SchemaFault(`it does not hold what its $ref ${JSON.stringify(reference.slice(0, 200))} means`)
    // It may be where no keyword leads to.
    index(target, { ...part, base, pointer: fragment })
    return target
  }

  function partOf(schema: object): Part {
    return parts.get(schema) ?? { base: BASE, dialect: DEFAULT_DIALECT, pointer: '' }
  }

  const exactChecks = new Map<object, Check>()
  const exact: Compiler = { exact: true, checkOf: exactCheckOf, exactCheckOf, resolve, work }

  function exactCheckOf(schema: unknown): Check {
    return compile(schema, exactChecks, exact)
  }

  const checks = new Map<object, Check>()
  const lenient: Compiler = {
    exact: false,
    checkOf: (schema) => compile(schema, checks, lenient),
    exactCheckOf(schema) {
      try {
        return exactCheckOf(schema)
      } catch (error) {
        // Some of these checks may be incomplete.
        exactChecks.clear()
        throw error
      }
    },
    resolve,
    work,
  }

  function compile(schema: unknown, known: Map<object, Check>, compiler: Compiler): Check {
    if (schema === true) return () => true
    if (schema === false) return (_value, at, run) => refuse(run, at, 'is not allowed')
    if (!isObject(schema)) throw new SchemaFault('a part of it is neither an object nor a boolean')
    const made = known.get(schema)
    if (made !== undefined) return made
    work.spend(10)
    const { dialect, pointer } = partOf(schema)
    if (dialect === null)
      throw new SchemaFault(
        `its $schema ${JSON.stringify(schema.$schema)?.slice(0, 200)} is neither JSON Schema 2020-12 nor draft-07`,
      )
    const keywords: Check[] = []
    let open: Place | null = null
    const check: Check = (value, at, run, seen) => {
      if (open === at) throw new Circle(`${pointer || 'it'} refers to itself`)
      const outer = open
      open = at
      const fits = apply(keywords, value, at, run, seen, tracks)
      open = outer
      return fits
    }
    // Known before its parts are made: they may refer to it.
    known.set(schema, check)
    for (const [keyword, make] of dialect.keywords) {
      if (!Object.hasOwn(schema, keyword) || (keyword !== '$ref' && isReferenceAlone(schema, dialect))) continue
      const made = faultOr(() => make(schema[keyword], schema, compiler))
      if (!(made instanceof SchemaFault)) keywords.push(made)
      else if (compiler.exact) throw made
      else {
        const told = `${pointer}/${keyword}: ${made.message}`
        if (skipped.length < MAX_TOLD) skipped.push(told)
        if (broken.length < MAX_TOLD && !(made instanceof Unsupported)) broken.push(told)
        if (SUBSCHEMAS.has(keyword) || REFERENCES.has(keyword)) keywords.push(seeAll)
      }
    }
    return check
  }

  index(root, { base: BASE, dialect: DEFAULT_DIALECT, pointer: '' })
  return { check: lenient.checkOf(root), skipped, broken }
}

function isReferenceAlone(schema: object, { refStandsAlone }: Dialect): boolean {
  return refStandsAlone && Object.hasOwn(schema, '$ref')
}

/** What was skipped might have looked at anything. */
const seeAll: Check = (_value, _at, _run, seen) => {
  if (seen !== null) seen.all = true
  return true
}

function faultOr<T>(make: () => T): T | SchemaFault {
  try {
    return make()
  } catch (error) {
    if (error instanceof SchemaFault) return error
    throw error
  }
}

function apply(keywords: Check[], value: unknown, at: Place, run: Run, outer: Seen | null, tracks: boolean): boolean {
  run.work.spend(3 + keywords.length)
  if (++run.depth > MAX_DEPTH) throw new SchemaFault(`it leads more than ${MAX_DEPTH} levels down`)
  const seen: Seen | null = tracks ? { all: false, keys: new Set(), items: new Set() } : null
  let fits = true
  for (const keyword of keywords) if (!keyword(value, at, run, seen)) fits = false
  if (fits && seen !== null && outer !== null) {
    run.work.spend(3 * (seen.keys.size + seen.items.size))
    outer.all ||= seen.all
    for (const key of seen.keys) outer.keys.add(key)
    for (const item of seen.items) outer.items.add(item)
  }
  run.depth--
  return fits
}

/** The schemas in a keyword's value, each with the end of its JSON Pointer. */
function partsOf(keyword: string, value: unknown): [key: string, part: unknown][] {
  switch (SUBSCHEMAS.get(keyword)) {
    case 'one':
    case 'list':
      return Array.isArray(value) ? value.map((part, at) => [`/${at}`, part]) : [['', value]]
    case 'map':
      return isObject(value) ? Object.entries(value).map(([key, part]) => [`/${escapePointer(key)}`, part]) : []
    default:
      return []
  }
}

/** Draft-07 has them in `$id`. */
function anchorsOf({ $id, $anchor, $dynamicAnchor }: Record<string, unknown>): string[] {
  const own = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : ''
  return [own, $anchor, $dynamicAnchor].filter((anchor) => typeof anchor === 'string' && anchor !== '') as string[]
}

function atPointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch (cause) {
    throw new SchemaFault(`${JSON.stringify(fragment.slice(0, 200))} is no URL fragment`, { cause })
  }
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
