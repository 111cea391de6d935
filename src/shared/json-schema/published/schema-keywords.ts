/**
 * The JSON Schema keywords that are shown, each with its valid values. Others are left out, because tools reject them.
 */
import { isObject } from '../../lib/json.ts'

export type ShownSchema = Readonly<Record<string, unknown>>

/** The value as it is shown; undefined if it is not valid. */
export type ShowKeyword = (value: unknown, show: ShowSchema) => unknown

export type ShowSchema = (schema: unknown) => ShownSchema

const TYPES = new Set<unknown>(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'])

const string: ShowKeyword = (value) => only(typeof value === 'string', value)
const boolean: ShowKeyword = (value) => only(typeof value === 'boolean', value)
const count: ShowKeyword = (value) => only(Number.isSafeInteger(value) && Number(value) >= 0, value)
const number: ShowKeyword = (value) => only(Number.isFinite(value) || JSON.isRawJSON(value), value)
const json: ShowKeyword = (value) => only(isShallow(value), value)
const schema: ShowKeyword = (value, show) => show(value)
const openOrSchema: ShowKeyword = (value, show) => (typeof value === 'boolean' ? value : show(value))

export const KEYWORDS: ReadonlyMap<string, ShowKeyword> = new Map<string, ShowKeyword>([
  ...(['title', 'description', 'format', 'contentEncoding', 'contentMediaType'] as const).map(
    (name) => [name, string] as const,
  ),
  ...(['deprecated', 'readOnly', 'writeOnly', 'uniqueItems'] as const).map((name) => [name, boolean] as const),
  ...(['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'] as const).map(
    (name) => [name, count] as const,
  ),
  ['minProperties', count],
  ['maxProperties', count],
  ...(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const).map((name) => [name, number] as const),
  ['multipleOf', (value) => only(typeof value === 'number' && value > 0, value)],
  ['const', json],
  ['default', json],
  ['enum', (value) => only(Array.isArray(value) && value.length > 0 && isShallow(value), value)],
  ['examples', (value) => only(Array.isArray(value) && isShallow(value), value)],
  ['type', type],
  ['pattern', (value) => only(isPattern(value), value)],
  ['required', (value) => only(isStrings(value), value)],
  ...(['contains', 'propertyNames', 'not', 'if', 'then', 'else', 'items'] as const).map(
    (name) => [name, schema] as const,
  ),
  ...(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'] as const).map(
    (name) => [name, openOrSchema] as const,
  ),
  ...(['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const).map((name) => [name, schemas] as const),
  ['properties', schemasByKey],
  ['dependentSchemas', schemasByKey],
  [
    'patternProperties',
    (value, show) => (isObject(value) && Object.keys(value).every(isPattern) ? schemasByKey(value, show) : undefined),
  ],
  ['dependentRequired', (value) => only(isObject(value) && Object.values(value).every(isStrings), value)],
])

export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
])

/** Whether values may be rejected because of the keyword. */
export function constrains(keyword: string): boolean {
  return (
    (KEYWORDS.has(keyword) && !ANNOTATIONS.has(keyword)) || keyword === '$dynamicRef' || keyword === '$recursiveRef'
  )
}

function only(isValid: boolean, value: unknown): unknown {
  return isValid ? value : undefined
}

// Deeper values are left out, like deeper schemas.
const MAX_VALUE_DEPTH = 20

export function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth < MAX_VALUE_DEPTH && Object.values(value).every((item) => isShallow(item, depth + 1))
}

function type(value: unknown): unknown {
  const types: unknown[] = Array.isArray(value) ? value : [value]
  const isValid = types.length > 0 && types.every((name) => TYPES.has(name)) && new Set(types).size === types.length
  return only(isValid, value)
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return Boolean(new RegExp(value, 'u'))
  } catch {
    // Not a regular expression: the keyword is left out.
    return false
  }
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function schemas(value: unknown, show: ShowSchema): unknown {
  return Array.isArray(value) && value.length > 0 ? value.map(show) : undefined
}

function schemasByKey(value: unknown, show: ShowSchema): unknown {
  if (!isObject(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, show(item)]))
}
