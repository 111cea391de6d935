import { UnsupportedError } from '../errors.ts'

// https://tc39.es/ecma262/#prod-CharacterClassEscape. RE2's own class stands at both ends,
// which keeps it from becoming a range with its neighbours.
const SPACE = '\\s\\x{b}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}\\s'
const NOT_SPACE =
  '\\d\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}\\d'

const OUTSIDE_CLASS = new Map([
  ['.', '[^\\n\\r\\x{2028}\\x{2029}]'],
  ['\\s', `[${SPACE}]`],
  ['\\S', `[${NOT_SPACE}]`],
])

const INSIDE_CLASS = new Map([
  ['\\s', SPACE],
  ['\\S', NOT_SPACE],
  ['\\b', '\\x08'],
])

const TOKEN = /\\.|[[\].]/gs

/**
 * Rewrites what RE2 reads differently from ECMAScript.
 * Throws an `UnsupportedError` for what other engines read differently.
 */
export function toRe2(pattern: string): string {
  if (/\{,\d/.test(pattern)) throw new UnsupportedError('regular expression engines disagree on the meaning of {,n}')
  if (/[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(pattern)) {
    throw new UnsupportedError('regular expression engines disagree on characters beyond U+FFFF')
  }
  let inClass = false
  return pattern.replace(TOKEN, (token, at: number) => {
    if (token === '\\k') throw new UnsupportedError('backreferences are not supported')
    if (token === '[' && inClass && pattern[at + 1] === ':') {
      throw new UnsupportedError('regular expression engines disagree on the meaning of [[:')
    }
    if (token === '[') inClass = true
    if (token === ']') inClass = false
    return (inClass ? INSIDE_CLASS : OUTSIDE_CLASS).get(token) ?? token
  })
}
