import { MAX_TEXT_LENGTH } from '../protocol/trace-document.ts'
import type { TraceEntry, TraceError } from '../protocol/trace-entry.ts'

/**
 * Sees each value before it leaves the process, the outer ones first, and returns what is to leave instead; undefined leaves
 * it out. `path` is a JSON Pointer into the entry: `/name`, `/input/prompt`, `/attributes/headers/cookie`, `/error/message`.
 */
export type Redact = (path: string, value: unknown) => unknown

/** Left out wherever they are keys, in whatever case: headers that carry credentials. */
const SECRET_NAMES = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
  'x-csrf-token',
  'x-amz-security-token',
  'x-goog-api-key',
])

export interface Limits {
  /** Of each of input, output, error and attributes, as JSON. */
  maxBytes: number
  /** Levels of each of them. */
  maxDepth: number
}

/** What marks the place where something was left out for its size. */
export const CUT = '… [cut: too large]'

/** The entry as it may leave the process: plain JSON, redacted and cut to the limits. */
export function toRedacted(entry: TraceEntry, redact: Redact, limits: Limits): TraceEntry {
  const { kind, name, input, output, attributes, error, ...rest } = entry
  const placeOf = (key: string, maxBytes = limits.maxBytes): Place => ({
    path: `/${key}`,
    redact,
    depthLeft: limits.maxDepth,
    budget: { left: maxBytes },
  })
  const leaving = (key: string, value: unknown) => {
    const plain = toPlain(value, placeOf(key))
    return plain === undefined ? {} : { [key]: plain }
  }
  return {
    ...rest,
    kind: toText(kind, placeOf('kind', MAX_NAME_BYTES)),
    name: toText(name, placeOf('name', MAX_NAME_BYTES)),
    ...(input !== undefined && leaving('input', input)),
    ...(output !== undefined && leaving('output', output)),
    ...(attributes !== undefined && leaving('attributes', attributes)),
    ...(error !== undefined && { error: redactedError(error, placeOf('error')) }),
  }
}

// With the mark less than readers take for a name.
const MAX_NAME_BYTES = MAX_TEXT_LENGTH - CUT.length

function redactedError({ name, message, cause }: TraceError, place: Place): TraceError {
  return {
    name: toText(name, below(place, 'name')),
    message: toText(message, below(place, 'message')),
    cause: cause === null ? null : redactedError(cause, below(place, 'cause')),
  }
}

interface Place {
  path: string
  redact: Redact
  depthLeft: number
  /** Bytes, shared by all that is below one value. */
  budget: { left: number }
}

function toText(value: string, place: Place): string {
  const plain = toPlain(value, place)
  return typeof plain === 'string' ? plain : ''
}

// `null` and `{}`, each with its comma: a million of them weigh as well.
const NOTHING_BYTES = 5
const EMPTY_BYTES = 3

/** Undefined for what JSON has no word for. */
function toPlain(given: unknown, place: Place): unknown {
  const value = place.redact(place.path, given)
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
  if (value instanceof Error) return membersToPlain([['name', value.name], ['message', value.message], ...Object.entries(value)], place)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return cutText(`[${value.byteLength} bytes]`, place.budget)
  if ('toJSON' in value && typeof value.toJSON === 'function') return toPlain(value.toJSON(), { ...place, depthLeft: place.depthLeft - 1 })
  if (value instanceof Map || value instanceof Headers) return membersToPlain(value.entries(), place)
  if (Array.isArray(value) || value instanceof Set) return elementsToPlain(value, place)
  return membersToPlain(Object.entries(value), place)
}

function elementsToPlain(elements: Iterable<unknown>, place: Place): unknown[] {
  const plain: unknown[] = []
  for (const element of elements) {
    if (place.budget.left <= 0) return [...plain, CUT]
    // Raw headers are lists of pairs.
    const isSecret = Array.isArray(element) && element.length === 2 && isSecretName(element[0])
    if (!isSecret) plain.push(toPlain(element, below(place, plain.length)) ?? null)
  }
  return plain
}

function membersToPlain(members: Iterable<[unknown, unknown]>, place: Place): object {
  const plain: [string, unknown][] = []
  for (const [key, value] of members) {
    if (isSecretName(key)) continue
    if (place.budget.left <= 0) {
      plain.push(['…', CUT])
      break
    }
    const name = String(key)
    const told = cutText(name, place.budget)
    const member = toPlain(value, below(place, name))
    if (member !== undefined) plain.push([told, member])
  }
  return Object.fromEntries(plain)
}

function below({ path, ...place }: Place, key: string | number): Place {
  const step = String(key).replaceAll('~', '~0').replaceAll('/', '~1')
  return { ...place, path: `${path}/${step}`, depthLeft: place.depthLeft - 1 }
}

function isSecretName(name: unknown): boolean {
  return typeof name === 'string' && SECRET_NAMES.has(name.toLowerCase())
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
