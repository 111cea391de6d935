/**
 * Patterns of ECMAScript that Python and RE2 compile too, and that match there whatever the service accepts. Programs
 * disagree on which characters are spaces, end a line or a word, and whether one beyond U+FFFF is one or two. So a
 * pattern has no part that depends on such characters: `.`, a negated class, `\s`, `\b`. In Python `\d` and `\w` match
 * more characters, and `$` also before a final line feed: this accepts more.
 */

// Escapes that all three read alike, classes, groups that are not captured, and any other character.
const TOKEN = /\\[dwtnrfv]|\\x[0-9a-fA-F]{2}|\\[^a-zA-Z0-9]|\[\^?|\(\?:|\{\d+(?:,\d*)?\}|[\s\S]/gu

// RE2 allows 1000 repetitions, those in repeated groups multiplied.
const MAX_REPETITIONS = 1000

/** `pattern` must be a pattern of ECMAScript with the flag `u`. */
export function isPortablePattern(pattern: string): boolean {
  let repetitions = 1
  let isInClass = false
  let previous = ''
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (isForeign(token, previous, isInClass)) return false
    if (token.length > 1 && token.startsWith('{'))
      repetitions *= Math.max(1, ...(token.match(/\d+/g)?.map(Number) ?? []))
    if (token === (isInClass ? ']' : '[')) isInClass = !isInClass
    previous = token
  }
  return repetitions <= MAX_REPETITIONS
}

/** Whether all programs find the same keys with it: more keys would have to match the schema of the pattern. */
export function isPortableKeyPattern(pattern: string): boolean {
  return isPortablePattern(pattern) && !/\\[dw]|\$/.test(pattern)
}

function isForeign(token: string, previous: string, isInClass: boolean): boolean {
  // Another escape, such as \s, \b, \p, \u, \1 or \k.
  if (token === '\\' || token === '[^') return true
  // A surrogate, or a character that is two of them in UTF-16.
  if (token >= '\ud800') return true
  // An empty class, and in a class a nested one.
  if (isInClass) return token.startsWith('[') || (token === ']' && previous === '[')
  // Any character; lookarounds, named groups, modifiers.
  return token === '.' || (token === '?' && previous === '(')
}
