/** Makes a string for a regular expression. It ignores lookarounds and backreferences: the caller checks the result. */
import { type Budget, COST } from '../check.ts'

// Longer strings are not readable.
const MAX_LENGTH = 500
const MAX_PATTERN_LENGTH = 2000
const MAX_DEPTH = 100

// In order of preference, then the printable characters of ASCII.
const CHARACTERS = ['a', 'A', '1', ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))]

const TOKEN = new RegExp(
  [
    String.raw`\[(?:\\[^]|[^\]\\])*\]`,
    String.raw`\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^])`,
    String.raw`\((?:\?(?:<?[=!]|:|<\w+>|[imsx-]+:?))?`,
    '[^]',
  ].join('|'),
  'uy',
)

// Without a quantifier, once.
const SIGNS: ReadonlyMap<string, readonly [minimum: number, maximum: number]> = new Map([
  ['', [1, 1]],
  ['?', [0, 1]],
  ['*', [0, Number.POSITIVE_INFINITY]],
  ['+', [1, Number.POSITIVE_INFINITY]],
])

const QUANTIFIER = /(?:([*+?])|\{(\d{1,9})(?:(,)(\d{0,9}))?\})[?+]?/y

/**
 * A string that the pattern may match; null if the pattern cannot be read. Repeatable parts are repeated `times`, if
 * the pattern allows it.
 */
export function patternExample(pattern: string, times: number, budget: Budget): string | null {
  let at = 0
  let depth = 0

  function alternatives(): string | null {
    let first = sequence()
    while (pattern[at] === '|') {
      at++
      const other = sequence()
      first ??= other
    }
    return first
  }

  function sequence(): string | null {
    let made: string | null = ''
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      budget.spend(COST.examplePatternToken)
      const atom = nextAtom()
      const count = repetitions()
      const part: string | null = atom === null && count > 0 ? null : (atom ?? '').repeat(Math.min(count, MAX_LENGTH))
      made = made === null || part === null || made.length + part.length > MAX_LENGTH ? null : made + part
    }
    return made
  }

  function nextAtom(): string | null {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(pattern)?.[0] ?? pattern.slice(at, at + 1)
    at += token.length
    if (token.startsWith('(')) return group(token)
    if (token === '^' || token === '$' || token === '\\b' || token === '\\B') return ''
    return token === '.' || token.length > 1 ? matching(token) : token
  }

  function group(opening: string): string | null {
    const made = ++depth > MAX_DEPTH ? null : alternatives()
    depth--
    at++
    return /^\(\?<?[=!]/.test(opening) ? '' : made
  }

  function repetitions(): number {
    QUANTIFIER.lastIndex = at
    const [token = '', sign, from, comma, to] = QUANTIFIER.exec(pattern) ?? []
    at += token.length
    const bounds = SIGNS.get(sign ?? token)
    if (bounds !== undefined) return Math.min(Math.max(times, bounds[0]), bounds[1])
    if (comma === undefined) return Number(from)
    return Math.min(Math.max(times, Number(from)), to ? Number(to) : Number.POSITIVE_INFINITY)
  }

  return pattern.length > MAX_PATTERN_LENGTH ? null : alternatives()
}

/** A character that the class or the escape matches. */
function matching(token: string): string | null {
  const expression = toRegExp(token)
  return expression === null ? null : (CHARACTERS.find((character) => expression.test(character)) ?? null)
}

function toRegExp(token: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(`^${token}$`, flags)
    } catch {
      // Without the flag `u` more escapes are valid. If the token is invalid either way, there is no example.
    }
  }
  return null
}
