/**
 * JSON without loss: a number that a double cannot represent keeps its digits (`JSON.rawJSON`). Also JSON as programs
 * in other languages write it (Python writes numbers that JSON does not have), the canonical form of RFC 8785, and JSON
 * Pointers.
 */
import { compareDecimals, toDecimal } from './decimal.ts'

declare global {
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

// JSON.stringify overflows the stack at a nesting of some 4000; a quarter of that is more than any real document needs.
export const MAX_JSON_DEPTH = 1000

/** `JSON.parse`, but exact. Throws a `SyntaxError` for invalid JSON and for a nesting deeper than `maxDepth`. */
export function parseJson(json: string, maxDepth: number = MAX_JSON_DEPTH): unknown {
  const inexact = findInexactNumbers(json, maxDepth)
  const value: unknown = JSON.parse(json)
  if (inexact.length === 0) return value
  // Unguessable, so that no string in a client's JSON starts with it.
  const mark = crypto.getRandomValues(new BigUint64Array(2)).join()
  return replaceMarked(JSON.parse(withMarked(json, inexact, mark)), mark)
}

interface Span {
  start: number
  end: number
}

/** The JSON with each of these numbers as a string that starts with `mark`. */
function withMarked(json: string, numbers: Span[], mark: string): string {
  let result = ''
  let copied = 0
  for (const { start, end } of numbers) {
    result += `${json.slice(copied, start)}"${mark}${json.slice(start, end)}"`
    copied = end
  }
  return result + json.slice(copied)
}

/** The value with each marked string replaced by its number. */
function replaceMarked(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? JSON.rawJSON(value.slice(mark.length)) : value
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) value[at] = replaceMarked(value[at], mark)
  else if (isObject(value)) for (const key of Object.keys(value)) value[key] = replaceMarked(value[key], mark)
  return value
}

/** The numbers that a double cannot represent. Invalid JSON is skipped: the parser rejects it. */
function findInexactNumbers(json: string, maxDepth: number): Span[] {
  const inexact: Span[] = []
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (isDigit(code)) {
      const exponent = endOfDigits(json, at)
      const start = json.charCodeAt(at - 1) === MINUS ? at - 1 : at
      const end = endOfExponent(json, exponent)
      const isShort = end - start <= EXACT_LENGTH && end - exponent <= EXACT_EXPONENT_LENGTH + 1
      if (!isShort && !isExact(json.slice(start, end))) inexact.push({ start, end })
      at = end - 1
    } else if (code === QUOTE) {
      at = endOfString(json, at)
    } else {
      depth = depthAfter(depth, code, maxDepth)
    }
  }
  return inexact
}

const QUOTE = 0x22
const MINUS = 0x2d
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9
}

/** How deep the document is nested after this character. */
function depthAfter(depth: number, code: number, maxDepth: number): number {
  // "]" and "}"
  if (code === 0x5d || code === 0x7d) return depth - 1
  // "[" and "{"
  if (code !== 0x5b && code !== 0x7b) return depth
  if (depth === maxDepth) throw new SyntaxError(`JSON is nested deeper than ${maxDepth} levels`)
  return depth + 1
}

// Decimals of up to 15 digits are different doubles, except below the smallest normal number:
// https://en.wikipedia.org/wiki/Double-precision_floating-point_format
const EXACT_LENGTH = 15
const SMALLEST_NORMAL = 2 ** -1022

// With two digits of exponent, a number of `EXACT_LENGTH` is far from either end of the range of a double.
const EXACT_EXPONENT_LENGTH = 2

// A longer number is kept as its digits without a comparison, which bounds the cost.
const MAX_COMPARED_LENGTH = 64

/** Whether a double represents this number. */
function isExact(source: string): boolean {
  const value = Number(source)
  // NaN: the parser rejects it.
  if (!Number.isFinite(value)) return Number.isNaN(value)
  if (source.length <= EXACT_LENGTH && Math.abs(value) >= SMALLEST_NORMAL) return true
  const shortest = String(value)
  // Comparing the strings costs a tenth of comparing the decimals.
  if (shortest === source) return true
  return source.length <= MAX_COMPARED_LENGTH && compareDecimals(toDecimal(shortest), toDecimal(source)) === 0
}

/** The index after the digits and dots that begin at `start`. */
function endOfDigits(json: string, start: number): number {
  let at = start
  while (isDigit(json.charCodeAt(at)) || json.charCodeAt(at) === 0x2e) at++
  return at
}

/** The index after the exponent that begins at `at`; `at` itself if no exponent begins there. */
function endOfExponent(json: string, at: number): number {
  // "e" or "E"
  if ((json.charCodeAt(at) | 0x20) !== 0x65) return at
  const sign = json.charCodeAt(at + 1)
  return endOfDigits(json, sign === MINUS || sign === 0x2b ? at + 2 : at + 1)
}

/** The index of the quote that ends the string which begins at `start`; the length if none does. */
function endOfString(json: string, start: number): number {
  let at = start
  while (true) {
    at = json.indexOf('"', at + 1)
    if (at === -1) return json.length
    let backslashes = 0
    while (json.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at
  }
}

export interface DepthLimit {
  maxDepth: number
  /** What replaces an array or object that is nested deeper. */
  replacement: string
}

/**
 * Like `parseJson`, but `NaN`, `Infinity` and `-Infinity` are the strings of these names, as in the JSON mapping of
 * protobuf. With a `limit`, what is nested too deep is replaced instead of rejected.
 */
export function parseLenientJson(json: string, limit?: DepthLimit): unknown {
  try {
    return parseJson(json, limit?.maxDepth)
  } catch (error) {
    const strict = toStrictJson(json, limit)
    if (strict === json) throw error
    return parseJson(strict, limit?.maxDepth)
  }
}

/** Takes time in proportion to the length. What is not JSON otherwise is left to the parser. */
function toStrictJson(json: string, limit: DepthLimit | undefined): string {
  let result = ''
  let copied = 0
  for (const { start, end, value } of replacements(json, limit)) {
    result += json.slice(copied, start) + JSON.stringify(value)
    copied = end
  }
  return result + json.slice(copied)
}

interface Replacement {
  start: number
  end: number
  value: string
}

function* replacements(json: string, limit?: DepthLimit): Iterable<Replacement> {
  const { maxDepth, replacement } = limit ?? { maxDepth: Number.POSITIVE_INFINITY, replacement: '' }
  let depth = 0
  // Where the part that is nested too deep begins.
  let tooDeepAt = 0
  const tokens = /["[\]{}]|NaN|-?Infinity/g
  for (let match = tokens.exec(json); match !== null; match = tokens.exec(json)) {
    const { 0: token, index: start } = match
    switch (token) {
      case '"':
        tokens.lastIndex = endOfString(json, start) + 1
        break
      case '[':
      case '{':
        if (depth++ === maxDepth) tooDeepAt = start
        break
      case ']':
      case '}':
        if (--depth === maxDepth) yield { start: tooDeepAt, end: start + 1, value: replacement }
        break
      default:
        if (depth <= maxDepth) yield { start, end: tokens.lastIndex, value: token }
    }
  }
}

/**
 * Canonical JSON (RFC 8785): no spaces, and object keys sorted by their UTF-16 code units.
 * Omits keys whose value is undefined.
 *
 * It writes the keys itself, because a sorted JavaScript object would still list keys like "10" first.
 * Libraries for RFC 8785 do not know `JSON.rawJSON`.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
}

/** Whether a JSON value is an object: not null, not an array, and not a number kept as its digits (`JSON.rawJSON`). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
}

/** A key, escaped as one step of a JSON Pointer: https://www.rfc-editor.org/rfc/rfc6901. */
export function escapePointer(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The pointer that follows `keys` from the root; empty for the root itself. */
export function toPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapePointer(key)}`).join('')
}

/** The keys of a pointer, from the root down. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What is wrong with a pointer, or null. */
export function pointerIssue(pointer: string): string | null {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer) ? null : 'must be a JSON Pointer, in which ~0 is ~ and ~1 is /'
}
