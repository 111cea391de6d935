/** Exact JSON: a number that a double can't hold is carried as the text it came as. */
import { compareDecimals, toDecimal } from './decimal.ts'
import { isObject } from './is-object.ts'

declare global {
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

// JSON.stringify gives up at a nesting of some 4000; a quarter of that is deeper than any honest document.
export const MAX_JSON_DEPTH = 1000

/** `JSON.parse`, but exact. Throws a `SyntaxError` for what is no JSON or is nested deeper than `MAX_JSON_DEPTH`. */
export function parseJson(text: string): unknown {
  const inexact = scan(text)
  const value: unknown = JSON.parse(text)
  if (inexact.length === 0) return value
  // A client cannot guess it, so no string of its own begins with it.
  const mark = crypto.randomUUID()
  return unmarked(JSON.parse(marked(text, inexact, mark)), mark)
}

interface Span {
  start: number
  end: number
}

/** The text with each of these numbers as a string that begins with `mark`. */
function marked(text: string, numbers: Span[], mark: string): string {
  let result = ''
  let copied = 0
  for (const { start, end } of numbers) {
    result += `${text.slice(copied, start)}"${mark}${text.slice(start, end)}"`
    copied = end
  }
  return result + text.slice(copied)
}

/** The value with each marked string as the number it stands for. */
function unmarked(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? JSON.rawJSON(value.slice(mark.length)) : value
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) value[at] = unmarked(value[at], mark)
  else if (isObject(value)) for (const key of Object.keys(value)) value[key] = unmarked(value[key], mark)
  return value
}

// Up to 15 digits no two decimals are the same double, from the smallest normal one on: https://en.wikipedia.org/wiki/Double-precision_floating-point_format
const SURE_LENGTH = 15
const SMALLEST_NORMAL = 2 ** -1022

// With two digits of exponent a number of `SURE_LENGTH` is far from either end of what a double holds.
const SURE_EXPONENT_LENGTH = 2

// A spelling this long is carried as it is rather than looked into: what it costs stays bounded.
const MAX_COMPARED_LENGTH = 64

/** Whether the double is the very number the text says, however it spells it. */
function isExact(source: string): boolean {
  const value = Number(source)
  // What is not a number is left to the parser.
  if (!Number.isFinite(value)) return Number.isNaN(value)
  if (source.length <= SURE_LENGTH && Math.abs(value) >= SMALLEST_NORMAL) return true
  const shortest = String(value)
  // Spelled as we would: that costs a tenth of looking into both.
  if (shortest === source) return true
  return source.length <= MAX_COMPARED_LENGTH && compareDecimals(toDecimal(shortest), toDecimal(source)) === 0
}

/** The numbers that no double holds. Skips what is not JSON, which the parser refuses. */
function scan(text: string): Span[] {
  const inexact: Span[] = []
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= DIGIT_0 && code <= DIGIT_9) {
      const start = text.charCodeAt(at - 1) === MINUS ? at - 1 : at
      const exponent = endOfDigits(text, at)
      const end = endOfNumber(text, exponent)
      if ((end - start > SURE_LENGTH || end - exponent > SURE_EXPONENT_LENGTH + 1) && !isExact(text.slice(start, end)))
        inexact.push({ start, end })
      at = end - 1
    } else if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) throw new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`)
    } else if (code === 0x5d || code === 0x7d) {
      depth--
    }
  }
  return inexact
}

const QUOTE = 0x22
const MINUS = 0x2d
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39

/** Behind the digits and dots that begin at `start`. */
function endOfDigits(text: string, start: number): number {
  let at = start
  while (true) {
    const code = text.charCodeAt(at)
    if (!((code >= DIGIT_0 && code <= DIGIT_9) || code === 0x2e)) return at
    at++
  }
}

/** Behind the exponent, if there is one at `at`. */
function endOfNumber(text: string, at: number): number {
  // Either letter e.
  if ((text.charCodeAt(at) | 0x20) !== 0x65) return at
  const sign = text.charCodeAt(at + 1)
  return endOfDigits(text, sign === MINUS || sign === 0x2b ? at + 2 : at + 1)
}

function endOfString(text: string, start: number): number {
  let at = start
  while (true) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at
  }
}
