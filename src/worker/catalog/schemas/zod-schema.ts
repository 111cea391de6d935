/**
 * Converts a zod schema to JSON Schema that accepts at least every input the zod schema accepts. What JSON Schema
 * cannot express is removed, and marked: the worker checks it.
 */
import * as z from 'zod'
import { isExactPattern } from './exact-pattern.ts'
import { markUnchecked, noJson, openNoJson, rejectNoJson } from './marks.ts'
import { plainJson } from './plain-json.ts'

type Json = z.core.JSONSchema.BaseSchema

type Definition = z.core.$ZodTypes['_zod']['def']

/** Has marks. */
export function zodSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const override = io === 'input' ? relax : relaxOutput
  const json = plainJson(z.toJSONSchema(schema, { io, unrepresentable, override }))
  rejectNoJson(json)
  if (io === 'input') removeMergedKeys(json, json)
  return json
}

// Values of these types never come from JSON. Other types that JSON Schema cannot express may accept anything.
const NEVER_JSON = new Set(['bigint', 'date', 'map', 'nan', 'set', 'symbol'])

function unrepresentable({ zodSchema, message }: { zodSchema: z.core.$ZodType; message: string }): Json {
  const { type } = zodSchema._zod.def
  if (NEVER_JSON.has(type) || message.startsWith('BigInt literals')) return noJson(type, message)
  const json = {}
  markUnchecked(json, type)
  return json
}

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'id'])

interface Part {
  zodSchema: z.core.$ZodTypes
  jsonSchema: Json
}

/** Called by zod for the parts of a schema before the schema itself. */
function relax(part: Part): void {
  const { zodSchema, jsonSchema: json } = part
  const { def } = zodSchema._zod
  const checks = checksOf(zodSchema)
  relaxOutput(part)
  if (acceptsAnything(def)) keepOnly(json)
  // The checks after it apply to the changed value, not to the input.
  else if (checks.some(({ check }) => check === 'overwrite')) removeChecks(json)
  else {
    removePatterns(json, checks)
    relaxAlternatives(json)
    relaxRequired(json, def)
  }
  const names = [...uncheckedKind(def), ...checks.flatMap((check) => uncheckedCheck(check, def))]
  if (names.length > 0) markUnchecked(json, ...names)
}

/** With these a value of another type, or none, is possible. */
const BRANCHING = new Set(['default', 'nullable', 'optional', 'prefault', 'union'])

function relaxOutput({ zodSchema, jsonSchema }: Part): void {
  if (BRANCHING.has(zodSchema._zod.def.type)) openNoJson(jsonSchema)
  // A bound that says nothing. zod makes it null.
  for (const [key, value] of Object.entries(jsonSchema)) if (isInfinite(value)) delete jsonSchema[key]
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

/** What the kind of schema does that JSON Schema cannot express. */
function uncheckedKind(def: Definition): string[] {
  switch (def.type) {
    case 'catch':
    case 'default':
    case 'prefault':
    case 'success':
      return [def.type]
    case 'pipe':
      return [pipeName(def)]
    case 'record':
      return def.mode === 'loose' ? ['looseRecord'] : []
    case 'union':
      return 'inclusive' in def && def.inclusive === false && !('discriminator' in def) ? ['xor'] : []
    default:
      return 'coerce' in def && def.coerce === true ? ['coerce'] : []
  }
}

function pipeName(def: z.core.$ZodPipeDef): string {
  if (def.in._zod.def.type === 'transform') return 'preprocess'
  if (def.out._zod.def.type === 'transform') return 'transform'
  return 'transform' in def ? 'codec' : 'pipe'
}

/** Formats without a pattern say what a string means, and reject nothing. */
function uncheckedCheck(check: Checked, { type }: Definition): string[] {
  switch (check.check) {
    case 'custom':
      return [type === 'custom' ? type : 'refine']
    case 'overwrite':
    case 'property':
      return [check.check]
    case 'string_format':
      return check.pattern === undefined || isPatternInexact(check) ? [check.format ?? 'regex'] : []
    default:
      return []
  }
}

function relaxAlternatives(json: Json): void {
  // Relaxed alternatives can overlap, so that more than one matches.
  if (json.oneOf !== undefined) {
    json.anyOf = json.oneOf
    delete json.oneOf
  }
}

function relaxRequired(json: Json, def: Definition): void {
  switch (def.type) {
    case 'object':
      if (json.required !== undefined) json.required = json.required.filter((key) => !mayBeAbsent(def.shape[key]))
      break
    case 'tuple':
      if (json.minItems !== undefined)
        json.minItems = Math.min(json.minItems, def.items.findLastIndex((item) => !mayBeAbsent(item)) + 1)
      break
    case 'record':
      if (def.mode === 'loose') keepOnly(json, 'type')
      else if (mayBeAbsent(def.valueType)) delete json.required
  }
}

function acceptsAnything(def: Definition): boolean {
  if (def.type === 'pipe') return def.in._zod.def.type === 'transform'
  return def.type === 'catch' || def.type === 'success' || ('coerce' in def && def.coerce === true)
}

/** As zod decides when it parses. Its JSON Schema differs for `catch` and `preprocess`. */
function mayBeAbsent(schema: z.core.$ZodType | undefined): boolean {
  return schema?._zod.optin !== undefined
}

function keepOnly(json: Json, ...keywords: string[]): void {
  for (const key of Object.keys(json)) if (!ANNOTATIONS.has(key) && !keywords.includes(key)) delete json[key]
}

function removeChecks(json: Json): void {
  if (json.type === 'string' || json.type === 'number' || json.type === 'integer') keepOnly(json, 'type')
  // The value may be rounded before the check.
  if (json.type === 'integer') json.type = 'number'
  delete json.minItems
  delete json.maxItems
}

interface Checked {
  type?: string
  check?: string
  format?: string
  pattern?: RegExp
  position?: number
}

/** Includes the definition itself: a format such as `z.email()` is its own first check. */
function checksOf({ _zod: { def } }: z.core.$ZodType): Checked[] {
  return [def, ...(def.checks ?? []).map((check) => check._zod.def)]
}

function removePatterns(json: Json, checks: Checked[]): void {
  const inexact = new Set(checks.filter(isPatternInexact).map(({ pattern }) => pattern?.source))
  if (inexact.has(json.pattern)) delete json.pattern
  if (json.type !== 'string' || json.allOf === undefined) return
  json.allOf = json.allOf.filter((part) => !inexact.has(part.pattern))
  if (json.allOf.length === 0) delete json.allOf
}

/** Some formats differ from the pattern that zod exports. */
function isPatternInexact({ pattern, format, position }: Checked): boolean {
  if (pattern === undefined) return false
  if (format === 'ipv6' || format === 'cidrv6' || position !== undefined) return true
  return !isExactPattern(pattern)
}

/**
 * In zod, each part of an intersection accepts the keys of the other parts. In JSON Schema, an `allOf` with a closed
 * part does not, so the `allOf` is removed.
 */
function removeMergedKeys(json: unknown, root: Json): void {
  if (typeof json !== 'object' || json === null) return
  for (const inner of Object.values(json)) removeMergedKeys(inner, root)
  const parts: unknown = Reflect.get(json, 'allOf')
  if (!Array.isArray(parts) || !parts.some((part: Json) => isClosed(part, root, 0))) return
  Reflect.deleteProperty(json, 'allOf')
  markUnchecked(json, 'intersection')
}

function isClosed({ $ref, anyOf = [], allOf = [], additionalProperties }: Json, root: Json, depth: number): boolean {
  const target = $ref === undefined ? undefined : root.$defs?.[decodeURIComponent($ref.replace('#/$defs/', ''))]
  const inner = [...anyOf, ...allOf, ...(target === undefined ? [] : [target])] as Json[]
  // The depth limit ends recursive schemas.
  return additionalProperties === false || (depth < 10 && inner.some((part) => isClosed(part, root, depth + 1)))
}
