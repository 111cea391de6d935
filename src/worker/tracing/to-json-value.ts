import { escapePointer } from '../../lib/json-pointer.ts'
import { isSecretName, isSecretPair, REDACTED } from '../../protocol/secret-names.ts'
import { payloadOf } from '../../temporal/payload-json.ts'

/** What marks the place where something was left out for its size. */
export const CUT = '… [cut: too large]'

/** A value on its way to plain JSON: where it is, and what it may still cost. */
export interface Place {
  /** JSON Pointer. */
  path: string
  /** Sees each value first, the outer ones before the inner, and returns what to use instead; undefined leaves it out. */
  visit(path: string, value: unknown): unknown
  depthLeft: number
  /** Bytes, shared by all that is below one value. */
  budget: { left: number }
  /** Where payloads stand that could not be decoded. */
  encoded: string[]
}

export function toText(value: string, place: Place): string {
  const plain = toPlain(value, place)
  return typeof plain === 'string' ? plain : ''
}

// `null` and `{}`, each with its comma: a million of them weigh as well.
const NOTHING_BYTES = 5
const EMPTY_BYTES = 3

/**
 * Any JavaScript value as plain JSON, with `[redacted]` under the names of secrets, cut to its budget of bytes and levels.
 *
 * Undefined for what JSON cannot express.
 */
export function toPlain(given: unknown, place: Place): unknown {
  const value = place.visit(place.path, given)
  switch (typeof value) {
    case 'string':
      return cutText(value, place.budget)
    case 'boolean':
    case 'number':
      place.budget.left -= String(value).length + 1
      return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
    case 'bigint':
      return cutText(String(value), place.budget)
    case 'object':
      place.budget.left -= value === null ? NOTHING_BYTES : EMPTY_BYTES
      return value === null ? null : objectToPlain(value, place)
    default:
      place.budget.left -= NOTHING_BYTES
      return undefined
  }
}

function objectToPlain(value: object, place: Place): unknown {
  if (isRawJson(value)) {
    place.budget.left -= JSON.stringify(value).length
    return value
  }
  if (place.depthLeft <= 0) return CUT
  const payload = payloadOf(value)
  if (payload !== null) {
    place.encoded.push(place.path)
    return payload
  }
  if (value instanceof Error)
    return membersToPlain([['name', value.name], ['message', value.message], ...Object.entries(value)], place)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return cutText(`[${value.byteLength} bytes]`, place.budget)
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return toPlain(value.toJSON(), { ...place, depthLeft: place.depthLeft - 1 })
  if (value instanceof Map || value instanceof Headers) return membersToPlain(value.entries(), place)
  if (Array.isArray(value) || value instanceof Set) return elementsToPlain(value, place)
  return membersToPlain(Object.entries(value), place)
}

function elementsToPlain(elements: Iterable<unknown>, place: Place): unknown[] {
  const plain: unknown[] = []
  for (const element of elements) {
    if (place.budget.left <= 0) return [...plain, CUT]
    // Raw headers are lists of pairs.
    if (isSecretPair(element)) plain.push([element[0], REDACTED])
    else plain.push(toPlain(element, below(place, plain.length)) ?? null)
  }
  return plain
}

function membersToPlain(members: Iterable<[unknown, unknown]>, place: Place): object {
  const plain: [string, unknown][] = []
  for (const [key, value] of members) {
    if (place.budget.left <= 0) {
      plain.push(['…', CUT])
      break
    }
    const name = String(key)
    const told = cutText(name, place.budget)
    const member = isSecretName(key) ? REDACTED : toPlain(value, below(place, name))
    if (member !== undefined) plain.push([told, member])
  }
  return Object.fromEntries(plain)
}

export function below({ path, ...place }: Place, key: string | number): Place {
  return { ...place, path: `${path}/${escapePointer(key)}`, depthLeft: place.depthLeft - 1 }
}

function cutText(text: string, budget: { left: number }): string {
  const left = Math.max(0, budget.left)
  // One character more than may fit tells enough of a text, however long it is.
  const bytes = jsonBytes(text.slice(0, left + 1))
  budget.left -= bytes + 3
  if (bytes <= left) return text
  // A character that was cut in two is left out.
  return `${text.slice(0, fitting(text, left)).replace(/[\ud800-\udbff]$/, '')}${CUT}`
}

/** With its escapes, without its quotes. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2
}

/** How many characters of the text weigh at most `bytes`. */
function fitting(text: string, bytes: number): number {
  let [least, most] = [0, Math.min(text.length, bytes)]
  while (least < most) {
    const half = Math.ceil((least + most) / 2)
    if (jsonBytes(text.slice(0, half)) <= bytes) least = half
    else most = half - 1
  }
  return least
}

function isRawJson(value: object): boolean {
  return 'isRawJSON' in JSON && typeof JSON.isRawJSON === 'function' && JSON.isRawJSON(value)
}
