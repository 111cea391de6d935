/**
 * Converts a zod schema to JSON Schema that accepts at least every input the zod schema accepts. What JSON Schema
 * cannot express is removed: the worker checks it.
 */
import * as z from 'zod'
import type { JsonSchema } from '../../../protocol/catalog.ts'

type Json = z.core.JSONSchema.BaseSchema

/** Throws a `TypeError` for types that no JSON value can have, such as `z.date()`. */
export function zodInputSchema(schema: z.ZodType): JsonSchema {
  const jsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable, override: relax })
  const text = JSON.stringify(jsonSchema, (key, value) =>
    key === 'allOf' && mergesKeys(value, jsonSchema) ? undefined : value,
  )
  const [, message] = NO_JSON_IN.exec(text) ?? []
  if (message !== undefined) throw new TypeError(JSON.parse(message))
  return JSON.parse(text)
}

// Marks a part that no JSON value matches, unless a schema around it turns out to accept anything.
const NO_JSON = 'portico:no-json'
const NO_JSON_IN = /"portico:no-json":("(?:[^"\\]|\\.)*")/

// Values of these types never come from JSON. Other types that JSON Schema cannot express may accept anything.
const NEVER_JSON = new Set(['bigint', 'date', 'map', 'nan', 'set', 'symbol'])

function unrepresentable({ zodSchema, message }: { zodSchema: z.core.$ZodType; message: string }): Json | 'any' {
  const { type } = zodSchema._zod.def
  return NEVER_JSON.has(type) || message.startsWith('BigInt literals') ? { [NO_JSON]: message } : 'any'
}

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'id'])

/** Called by zod for the parts of a schema before the schema itself. */
function relax({ zodSchema, jsonSchema: json }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  const { def } = zodSchema._zod
  const checks = checksOf(zodSchema)
  if (acceptsAnything(def)) keepOnly(json)
  // The checks after it apply to the changed value, not to the input.
  else if (checks.some(({ check }) => check === 'overwrite')) removeChecks(json)
  else {
    removePatterns(json, checks)
    relaxAlternatives(json)
    relaxRequired(json, def)
  }
}

function relaxAlternatives(json: Json): void {
  // Relaxed alternatives can overlap, so that more than one matches.
  if (json.oneOf !== undefined) {
    json.anyOf = json.oneOf
    delete json.oneOf
  }
}

function relaxRequired(json: Json, def: z.core.$ZodTypes['_zod']['def']): void {
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

function acceptsAnything(def: z.core.$ZodTypes['_zod']['def']): boolean {
  if (def.type === 'pipe') return def.in._zod.def.type === 'transform'
  return def.type === 'catch' || ('coerce' in def && def.coerce === true)
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

/** JSON Schema patterns have no flags and behave as with `u`. Some formats differ from the pattern that zod exports. */
function isPatternInexact({ pattern, format, position }: Checked): boolean {
  if (pattern === undefined) return false
  if (format === 'ipv6' || format === 'cidrv6' || position !== undefined) return true
  return /[imsv]/.test(pattern.flags) || (!pattern.unicode && /\\[pPu]\{/.test(pattern.source))
}

/**
 * In zod, each part of an intersection accepts the keys of the other parts. In JSON Schema, an `allOf` with a closed
 * part does not, so the `allOf` is removed.
 */
function mergesKeys(parts: unknown, root: Json): boolean {
  return Array.isArray(parts) && parts.some((part: Json) => isClosed(part, root, 0))
}

function isClosed({ $ref, anyOf = [], allOf = [], additionalProperties }: Json, root: Json, depth: number): boolean {
  const target = $ref === undefined ? undefined : root.$defs?.[decodeURIComponent($ref.replace('#/$defs/', ''))]
  const inner = [...anyOf, ...allOf, ...(target === undefined ? [] : [target])] as Json[]
  // The depth limit ends recursive schemas.
  return additionalProperties === false || (depth < 10 && inner.some((part) => isClosed(part, root, depth + 1)))
}
