import { escapePointer } from '../../shared/lib/json.ts'
import { payloadOf } from '../../shared/temporal/payload-json.ts'
import { isSecretName, isSecretPair, REDACTED } from '../../shared/wire/secret-names.ts'
import { TRUNCATED } from '../../shared/wire/trace/entry.ts'

/** Where a value is, and what is left of its limits. */
export interface ValueContext {
  /** JSON Pointer. */
  path: string
  /**
   * Called for every value, containers before their members. Returns the value to use instead; undefined removes it.
   */
  redact(path: string, value: unknown): unknown
  depthLeft: number
  /** Bytes, shared with all parts of the same value. */
  budget: { left: number }
  /** Receives the paths of payloads that could not be decoded. */
  encoded: string[]
}

export function toJsonString(value: string, context: ValueContext): string {
  const json = toJsonValue(value, context)
  return typeof json === 'string' ? json : ''
}

// The size of `null` and of `{}`, each with its comma.
const NULL_BYTES = 5
const EMPTY_BYTES = 3

/**
 * Converts any JavaScript value to plain JSON: redacts values under secret names and truncates to the limits of
 * `context`. Returns undefined for what JSON cannot express.
 */
export function toJsonValue(given: unknown, context: ValueContext): unknown {
  const value = context.redact(context.path, given)
  switch (typeof value) {
    case 'string':
      return truncate(value, context.budget)
    case 'boolean':
    case 'number':
      context.budget.left -= String(value).length + 1
      return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
    case 'bigint':
      return truncate(String(value), context.budget)
    case 'object':
      context.budget.left -= value === null ? NULL_BYTES : EMPTY_BYTES
      return value === null ? null : fromObject(value, context)
    default:
      context.budget.left -= NULL_BYTES
      return undefined
  }
}

function fromObject(value: object, context: ValueContext): unknown {
  if (JSON.isRawJSON(value)) {
    context.budget.left -= JSON.stringify(value).length
    return value
  }
  if (context.depthLeft <= 0) return TRUNCATED
  const payload = payloadOf(value)
  if (payload !== null) {
    context.encoded.push(context.path)
    return payload
  }
  if (value instanceof Error)
    return fromMembers([['name', value.name], ['message', value.message], ...Object.entries(value)], context)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return truncate(`[${value.byteLength} bytes]`, context.budget)
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return toJsonValue(value.toJSON(), { ...context, depthLeft: context.depthLeft - 1 })
  if (value instanceof Map || value instanceof Headers) return fromMembers(value.entries(), context)
  if (Array.isArray(value) || value instanceof Set) return fromElements(value, context)
  return fromMembers(Object.entries(value), context)
}

function fromElements(elements: Iterable<unknown>, context: ValueContext): unknown[] {
  const json: unknown[] = []
  for (const element of elements) {
    if (context.budget.left <= 0) return [...json, TRUNCATED]
    // Raw headers are lists of name-value pairs.
    if (isSecretPair(element)) json.push([element[0], REDACTED])
    else json.push(toJsonValue(element, atKey(context, json.length)) ?? null)
  }
  return json
}

function fromMembers(members: Iterable<[unknown, unknown]>, context: ValueContext): object {
  const json: [string, unknown][] = []
  for (const [key, value] of members) {
    if (context.budget.left <= 0) {
      json.push(['…', TRUNCATED])
      break
    }
    const name = String(key)
    const truncatedName = truncate(name, context.budget)
    const member = isSecretName(key) ? REDACTED : toJsonValue(value, atKey(context, name))
    if (member !== undefined) json.push([truncatedName, member])
  }
  return Object.fromEntries(json)
}

export function atKey({ path, ...context }: ValueContext, key: string | number): ValueContext {
  return { ...context, path: `${path}/${escapePointer(key)}`, depthLeft: context.depthLeft - 1 }
}

function truncate(value: string, budget: { left: number }): string {
  const left = Math.max(0, budget.left)
  // A character takes at least one byte, so the rest of a longer string need not be measured.
  const bytes = jsonBytes(value.slice(0, left + 1))
  budget.left -= bytes + 3
  if (bytes <= left) return value
  // Removes half of a surrogate pair.
  return `${value.slice(0, fittingLength(value, left)).replace(/[\ud800-\udbff]$/, '')}${TRUNCATED}`
}

/** The size of the escaped string, without quotes. */
function jsonBytes(value: string): number {
  return Buffer.byteLength(JSON.stringify(value)) - 2
}

/** The length of the longest prefix of at most `bytes` bytes. */
function fittingLength(value: string, bytes: number): number {
  let [min, max] = [0, Math.min(value.length, bytes)]
  while (min < max) {
    const middle = Math.ceil((min + max) / 2)
    if (jsonBytes(value.slice(0, middle)) <= bytes) min = middle
    else max = middle - 1
  }
  return min
}
