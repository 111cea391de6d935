/** Exact JSON: a number that a double can't hold is carried as the text it came as. */

declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

// JSON.stringify gives up at a nesting of some 4000; a quarter of that is deeper than any honest document.
export const MAX_JSON_DEPTH = 1000

// Up to 15 digits a double is exact whatever they are; with fewer characters, and no exponent, nothing needs a second look.
const MAY_HOLD_A_LONG_NUMBER = /[\d.]{16}|\d[eE][+-]?\d/

/** `JSON.parse`, but exact. Throws a `SyntaxError` for what is no JSON or is nested deeper than `MAX_JSON_DEPTH`. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`)
  if (!MAY_HOLD_A_LONG_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isExact(value, source) ? JSON.rawJSON(source) : value,
  )
}

// Up to 15 digits no two decimals are the same double, from the smallest normal one on: https://en.wikipedia.org/wiki/Double-precision_floating-point_format
const SURE_LENGTH = 15
const SMALLEST_NORMAL = 2 ** -1022

// A spelling this long is carried as it is rather than looked into: what it costs stays bounded.
const MAX_COMPARED_LENGTH = 64

/** Whether the double is the very number the text says, however it spells it. */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  if (source.length <= SURE_LENGTH && Math.abs(value) >= SMALLEST_NORMAL) return true
  const shortest = String(value)
  // Spelled as we would: that costs a tenth of looking into both.
  return shortest === source || (source.length <= MAX_COMPARED_LENGTH && decimal(shortest) === decimal(source))
}

/** One spelling for each decimal number: its significant digits and the power of ten of the last one. */
function decimal(text: string): string {
  const sign = text.startsWith('-') ? '-' : ''
  const [mantissa = '', exponent = '0'] = text.slice(sign.length).toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MAX_JSON_DEPTH) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
    }
  }
  return false
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
