/** Finds where a string stops being valid JSON. The messages of the runtimes' parsers differ, and quote the string. */

export interface JsonSyntaxError {
  /** Both start at 1; columns count UTF-16 code units. */
  line: number
  column: number
  /** Whether the string ends where more is expected. */
  atEnd: boolean
}

/** Null for valid JSON. Takes one pass and no stack, however deep the document is nested. */
export function findJsonSyntaxError(json: string): JsonSyntaxError | null {
  const open: Bracket[] = []
  let expected: Expected = 'value'
  for (let at = skipSpace(json, 0); ; at = skipSpace(json, at)) {
    if (expected === 'end' && at === json.length) return null
    const token = readToken(json, at)
    const next: Expected | null = token.isValid ? step(expected, token.kind, open) : null
    if (next === null) return positionOf(json, token.isValid ? at : token.end)
    expected = next
    at = token.end
  }
}

type Bracket = '[' | '{'

/** What may come next. */
type Expected = 'value' | 'value or close' | 'key' | 'key or close' | 'colon' | 'comma or close' | 'end'

type Kind = Bracket | ']' | '}' | ':' | ',' | 'string' | 'scalar'

/** What may come after a token of this kind; null where the token is not allowed. Updates `open`. */
function step(expected: Expected, kind: Kind, open: Bracket[]): Expected | null {
  switch (kind) {
    case '[':
    case '{':
      return expectsValue(expected) ? afterOpen(kind, open) : null
    case ']':
      return afterClose(expected, '[', open)
    case '}':
      return afterClose(expected, '{', open)
    case ':':
      return expected === 'colon' ? 'value' : null
    case ',':
      return expected === 'comma or close' ? afterComma(open) : null
    case 'string':
      if (expected === 'key' || expected === 'key or close') return 'colon'
      return expectsValue(expected) ? afterValue(open) : null
    case 'scalar':
      return expectsValue(expected) ? afterValue(open) : null
  }
}

function expectsValue(expected: Expected): boolean {
  return expected === 'value' || expected === 'value or close'
}

function afterOpen(bracket: Bracket, open: Bracket[]): Expected {
  open.push(bracket)
  return bracket === '[' ? 'value or close' : 'key or close'
}

function afterClose(expected: Expected, bracket: Bracket, open: Bracket[]): Expected | null {
  if (open.at(-1) !== bracket || !expected.endsWith('or close')) return null
  open.pop()
  return afterValue(open)
}

function afterComma(open: readonly Bracket[]): Expected {
  return open.at(-1) === '[' ? 'value' : 'key'
}

function afterValue(open: readonly Bracket[]): Expected {
  return open.length === 0 ? 'end' : 'comma or close'
}

interface Token {
  kind: Kind
  isValid: boolean
  /** The index after the token; for an invalid one, where it stops being valid. */
  end: number
}

const PUNCTUATION: ReadonlyMap<string | undefined, Kind> = new Map(
  (['[', '{', ']', '}', ':', ','] as const).map((character) => [character, character]),
)
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

function readToken(json: string, at: number): Token {
  const kind = PUNCTUATION.get(json[at])
  if (kind !== undefined) return { kind, isValid: true, end: at + 1 }
  if (json[at] === '"') return readString(json, at)
  const end = endOfMatch(SCALAR, json, at)
  return { kind: 'scalar', isValid: end !== null, end: end ?? at }
}

function readString(json: string, start: number): Token {
  let at = start + 1
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === 0x22) return { kind: 'string', isValid: true, end: at + 1 } // "
    const end = code === 0x5c ? endOfMatch(ESCAPE, json, at) : at + 1 // \
    if (end === null || code < 0x20) break
    at = end
  }
  return { kind: 'string', isValid: false, end: at }
}

function endOfMatch(pattern: RegExp, json: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(json) ? pattern.lastIndex : null
}

function skipSpace(json: string, at: number): number {
  let end = at
  while (' \t\n\r'.includes(json[end] ?? '?')) end++
  return end
}

function positionOf(json: string, at: number): JsonSyntaxError {
  const before = json.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), atEnd: at >= json.length }
}
