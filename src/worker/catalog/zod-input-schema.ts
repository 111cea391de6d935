/** JSON Schema of what a zod schema accepts. What JSON Schema cannot express is left out: the worker checks it. */
import * as z from 'zod'
import type { JsonSchema } from '../../protocol/catalog.ts'

type Json = z.core.JSONSchema.BaseSchema

/** Throws for types that no JSON value has. */
export function zodInputSchema(schema: z.ZodType): JsonSchema {
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable, override: leaveOut })
  const text = JSON.stringify(made, (key, value) => (key === 'allOf' && sharesKeys(value, made) ? undefined : value))
  const [, message] = NO_JSON_IN.exec(text) ?? []
  if (message !== undefined) throw new TypeError(JSON.parse(message))
  return JSON.parse(text)
}

// Marks what nothing around it has made acceptable by the end.
const NO_JSON = 'portico:no-json'
const NO_JSON_IN = /"portico:no-json":("(?:[^"\\]|\\.)*")/

// What never came from JSON. The other types that JSON Schema has no word for may take anything.
const NEVER_JSON = new Set(['bigint', 'date', 'map', 'nan', 'set', 'symbol'])

function unrepresentable({ zodSchema, message }: { zodSchema: z.core.$ZodType; message: string }): Json | 'any' {
  const { type } = zodSchema._zod.def
  return NEVER_JSON.has(type) || message.startsWith('BigInt literals') ? { [NO_JSON]: message } : 'any'
}

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'id'])

/** Of a schema whose parts are done; of the wrappers around it later. */
function leaveOut({ zodSchema, jsonSchema: json }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  const { def } = zodSchema._zod
  const checks = checksOf(zodSchema)
  if (takesAnything(def)) keepOnly(json)
  // The checks behind it are of another value.
  else if (checks.some(({ check }) => check === 'overwrite')) leaveOutChecks(json)
  else {
    leaveOutPatterns(json, checks)
    leaveOutAlternatives(json)
    leaveOutRequired(json, def)
  }
}

function leaveOutAlternatives(json: Json): void {
  // Of alternatives that say less than they should, more than one may match.
  if (json.oneOf !== undefined) {
    json.anyOf = json.oneOf
    delete json.oneOf
  }
}

function leaveOutRequired(json: Json, def: z.core.$ZodTypes['_zod']['def']): void {
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

function takesAnything(def: z.core.$ZodTypes['_zod']['def']): boolean {
  if (def.type === 'pipe') return def.in._zod.def.type === 'transform'
  return def.type === 'catch' || ('coerce' in def && def.coerce === true)
}

/** As zod decides when it parses; behind `catch` and `preprocess` its JSON Schema says otherwise. */
function mayBeAbsent(schema: z.core.$ZodType | undefined): boolean {
  return schema?._zod.optin !== undefined
}

function keepOnly(json: Json, ...keywords: string[]): void {
  for (const key of Object.keys(json)) if (!ANNOTATIONS.has(key) && !keywords.includes(key)) delete json[key]
}

function leaveOutChecks(json: Json): void {
  if (json.type === 'string' || json.type === 'number' || json.type === 'integer') keepOnly(json, 'type')
  // It may be rounded first.
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

/** A format is its own first check. */
function checksOf({ _zod: { def } }: z.core.$ZodType): Checked[] {
  return [def, ...(def.checks ?? []).map((check) => check._zod.def)]
}

function leaveOutPatterns(json: Json, checks: Checked[]): void {
  const inexact = new Set(checks.filter(isPatternInexact).map(({ pattern }) => pattern?.source))
  if (inexact.has(json.pattern)) delete json.pattern
  if (json.type !== 'string' || json.allOf === undefined) return
  json.allOf = json.allOf.filter((part) => !inexact.has(part.pattern))
  if (json.allOf.length === 0) delete json.allOf
}

/** JSON Schema has no flags, but reads patterns as with `u`; some formats are not checked by the pattern that they have. */
function isPatternInexact({ pattern, format, position }: Checked): boolean {
  if (pattern === undefined) return false
  if (format === 'ipv6' || format === 'cidrv6' || position !== undefined) return true
  return /[imsv]/.test(pattern.flags) || (!pattern.unicode && /\\[pPu]\{/.test(pattern.source))
}

/** zod lets each part of an intersection have the keys of the others; JSON Schema does not, where zod could not make one object of them. */
function sharesKeys(parts: unknown, root: Json): boolean {
  return Array.isArray(parts) && parts.some((part: Json) => isClosed(part, root, 0))
}

function isClosed({ $ref, anyOf = [], allOf = [], additionalProperties }: Json, root: Json, depth: number): boolean {
  const named = $ref === undefined ? undefined : root.$defs?.[decodeURIComponent($ref.replace('#/$defs/', ''))]
  const inner = [...anyOf, ...allOf, ...(named === undefined ? [] : [named])] as Json[]
  // Circles end: what refers to itself is closed further up or not at all.
  return additionalProperties === false || (depth < 10 && inner.some((part) => isClosed(part, root, depth + 1)))
}
