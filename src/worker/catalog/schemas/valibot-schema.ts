/** How valibot's own converter makes a JSON Schema that accepts at least every input that valibot accepts. */

import { isObject } from '../../../shared/lib/json.ts'
import { isExactPattern } from './exact-pattern.ts'
import { markUnchecked, noJson, open, openNoJson } from './marks.ts'

type Json = Record<string, unknown>

/** A schema or an action of valibot: https://valibot.dev/guides/internal-architecture. */
interface Item {
  kind: 'schema' | 'validation' | 'transformation' | 'metadata'
  type: string
  pipe?: Item[]
  [key: string]: unknown
}

interface Converted {
  jsonSchema: Json
  /** Why it cannot be converted. */
  errors?: string[]
}

/** Options of the converter. What it cannot convert is left out, and marked. */
export function valibotOptions(io: 'input' | 'output'): object {
  return {
    errorMode: 'ignore',
    overrideSchema(part: Converted & { valibotSchema: Item }) {
      markUnconverted(part)
      if (BRANCHING.has(part.valibotSchema.type)) openNoJson(part.jsonSchema)
      if (io === 'input') relax(part.valibotSchema, part.jsonSchema)
      return part.jsonSchema
    },
    ...(io === 'input' && { overrideAction }),
  }
}

// Values of these types never come from JSON. Other types that JSON Schema cannot express may accept anything.
const NEVER_JSON = new Set(['bigint', 'date', 'map', 'nan', 'set', 'symbol'])

/** With these a value of another type, or none, is possible. */
const BRANCHING = new Set([
  ...['exact_optional', 'nullable', 'nullish', 'optional', 'undefinedable', 'union', 'variant'],
])

function markUnconverted({ valibotSchema: { type }, jsonSchema, errors }: Converted & { valibotSchema: Item }): void {
  // Records are converted, in spite of the error for keys that are not only strings.
  if (errors === undefined || type === 'record') return
  if (NEVER_JSON.has(type)) Object.assign(jsonSchema, noJson(type, errors.join(' ')))
  else markUnchecked(jsonSchema, type)
}

/** Relaxes what the schema says about its parts, which are converted before. */
function relax(schema: Item, json: Json): void {
  for (const [part, holder, key] of partsOf(schema, json)) {
    if (!isObject(part) || !isObject(holder[key])) continue
    if ('fallback' in part) open(holder[key], 'fallback')
    else markChange(part, holder[key])
  }
  if ('fallback' in schema || fallsBack(schema.wrapped)) open(json, 'fallback')
  if (schema.default !== undefined) markUnchecked(json, 'default')
  const { entries, items } = schema
  if (isObject(entries) && Array.isArray(json.required))
    json.required = json.required.filter((name) => !fallsBack(entries[name]))
  if (Array.isArray(items)) json.minItems = 1 + items.findLastIndex((item) => !mayBeAbsent(item))
  // Relaxed alternatives can overlap.
  if (json.oneOf !== undefined) {
    json.anyOf = json.oneOf
    delete json.oneOf
  }
}

type Holder = Record<string | number, unknown>

/** The parts of a schema, each with where its JSON Schema is. */
function partsOf(schema: Item, json: Json): [part: unknown, holder: Holder, key: string | number][] {
  const ofObject = schema.type.endsWith('object_with_rest')
  const named: [unknown, string][] = [
    [schema.item, 'items'],
    [schema.rest, ofObject ? 'additionalProperties' : 'items'],
    [schema.value, 'additionalProperties'],
    [schema.key, 'propertyNames'],
  ]
  const alternatives = json.anyOf ?? json.oneOf ?? json.allOf
  return [
    ...named.map(([part, key]): [unknown, Holder, string] => [part, json, key]),
    ...within(schema.entries, json.properties),
    ...within(schema.items, json.prefixItems),
    ...within(schema.options ?? [schema.wrapped], alternatives),
  ]
}

function within(parts: unknown, holder: unknown): [unknown, Holder, string | number][] {
  if (typeof parts !== 'object' || parts === null || typeof holder !== 'object' || holder === null) return []
  return Object.entries(parts).map(([key, part]) => [part, holder as Holder, key])
}

function fallsBack(schema: unknown): boolean {
  return isObject(schema) && 'fallback' in schema
}

function mayBeAbsent(item: unknown): boolean {
  const standard: unknown = Reflect.get(Object(item), '~standard')
  return fallsBack(item) || acceptsValue(standard, undefined)
}

/** Whether the schema accepts the value, as far as that is known. */
export function acceptsValue(standard: unknown, value: unknown): boolean {
  if (!isObject(standard) || typeof standard.validate !== 'function') return false
  const result: unknown = Reflect.apply(standard.validate, standard, [value])
  return isObject(result) && result.issues === undefined
}

/** The converter ends at the first change of the type. */
function markChange(schema: Json, json: Json): void {
  const pipe = Array.isArray(schema.pipe) ? schema.pipe.slice(1) : []
  const change = pipe.find(({ kind, type }: Item) => kind === 'schema' || CONVERSIONS.test(type))
  if (change !== undefined) markUnchecked(json, change.kind === 'schema' ? 'pipe' : change.type)
}

const CONVERSIONS = /^(?:raw_)?transform$|^to_(?!lower|upper)|_json$|^(?:find|reduce)_items?$/

// Only names for the compiler.
const NAMES = new Set(['brand', 'flavor', 'readonly'])

// Formats say what a string means, and reject nothing.
const FORMATS = new Set([
  ...['base64', 'email', 'rfc_email', 'ipv4', 'ipv6', 'url', 'uuid'],
  ...['iso_date', 'iso_date_time', 'iso_time', 'iso_timestamp'],
])

/** The JSON Schema before a change of the value: what is checked after it is not checked of the input. */
const UNCHANGED = Symbol('unchanged')

interface InPipe extends Json {
  [UNCHANGED]?: Json
}

/** Called for each action of a pipe, after its conversion. */
function overrideAction(part: Converted & { valibotAction: Item }): Json | undefined {
  const { valibotAction: action, errors } = part
  const json: InPipe = part.jsonSchema
  if (action.kind === 'metadata') return undefined
  if (NAMES.has(action.type)) return json
  const unchanged = json[UNCHANGED]
  if (unchanged !== undefined) return { ...unchanged, [UNCHANGED]: unchanged }
  const { requirement } = action
  const isInexact = requirement instanceof RegExp && json.pattern === requirement.source && !isExactPattern(requirement)
  if (isInexact) delete json.pattern
  // A flag that says nothing is an error, too.
  const isConverted = errors === undefined || (requirement instanceof RegExp && json.pattern === requirement.source)
  if (!isConverted || isInexact || FORMATS.has(action.type)) markUnchecked(json, action.type)
  return action.kind === 'transformation' ? { ...json, [UNCHANGED]: { ...json } } : json
}
