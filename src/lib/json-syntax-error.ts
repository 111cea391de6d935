/** Where a string stops being JSON. Each runtime's parser words that differently, and quotes the string. */

export interface JsonFault {
  /** Both from 1; columns count UTF-16 code units. */
  line: number
  column: number
  /** The text ends where more is expected. */
  atEnd: boolean
}

/** Null for a text that is JSON. Takes one pass, and no stack, however deep the text is nested. */
export function findJsonFault(text: string): JsonFault | null {
  const open: ('[' | '{')[] = []
  let expected: Expected = 'value'
  for (let at = endOfSpace(text, 0); ; at = endOfSpace(text, at)) {
    if (expected === 'end' && at === text.length) return null
    const token = tokenAt(text, at)
    const next: Expected | null = token.fault ? null : step(expected, token.kind, open)
    if (next === null) return positionOf(text, token.fault ? token.end : at)
    expected = next
    at = token.end
  }
}

/** What may come next. */
type Expected = 'value' | 'value or close' | 'key' | 'key or close' | 'colon' | 'comma or close' | 'end'

type Kind = '[' | '{' | ']' | '}' | ':' | ',' | 'string' | 'scalar'

/** What may come after a token of this kind, and updates `open`; null where the token is not allowed. */
function step(expected: Expected, kind: Kind, open: ('[' | '{')[]): Expected | null {
  const container = open.at(-1)
  const takesValue = expected === 'value' || expected === 'value or close'
  switch (kind) {
    case '[':
    case '{':
      if (!takesValue) return null
      open.push(kind)
      return kind === '[' ? 'value or close' : 'key or close'
    case ']':
    case '}':
      if (container !== (kind === ']' ? '[' : '{') || !expected.endsWith('or close')) return null
      open.pop()
      return afterValue(open)
    case ':':
      return expected === 'colon' ? 'value' : null
    case ',':
      if (expected !== 'comma or close') return null
      return container === '[' ? 'value' : 'key'
    case 'string':
      if (expected === 'key' || expected === 'key or close') return 'colon'
      return takesValue ? afterValue(open) : null
    case 'scalar':
      return takesValue ? afterValue(open) : null
  }
}

function afterValue(open: readonly unknown[]): Expected {
  return open.length === 0 ? 'end' : 'comma or close'
}

interface Token {
  kind: Kind
  /** Where it ends, or where its fault is. */
  end: number
  fault: boolean
}

const MARKS: ReadonlyMap<string | undefined, Kind> = new Map(
  (['[', '{', ']', '}', ':', ','] as const).map((mark) => [mark, mark]),
)
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

function tokenAt(text: string, at: number): Token {
  const mark = MARKS.get(text[at])
  if (mark !== undefined) return { kind: mark, end: at + 1, fault: false }
  if (text[at] === '"') return stringAt(text, at)
  const end = endOf(SCALAR, text, at)
  return { kind: 'scalar', end: end ?? at, fault: end === null }
}

function stringAt(text: string, start: number): Token {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return { kind: 'string', end: at + 1, fault: false } // "
    const end = code === 0x5c ? endOf(ESCAPE, text, at) : at + 1 // \
    if (end === null || code < 0x20) break
    at = end
  }
  return { kind: 'string', end: at, fault: true }
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

function endOfSpace(text: string, at: number): number {
  let end = at
  while (' \t\n\r'.includes(text[end] ?? '?')) end++
  return end
}

function positionOf(text: string, at: number): JsonFault {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), atEnd: at >= text.length }
}
