/** Regular expressions from untrusted schemas, matched in linear time. */
import { RE2JS } from 're2js'
import { type Budget, COST } from './check.ts'
import { SchemaError, UnsupportedError } from './errors.ts'

/** Whether a string matches. Ambiguous: engines disagree on what a character or the end of a line is. */
export type Match = (string: string, budget: Budget) => 'yes' | 'no' | 'ambiguous'

type Matcher = (string: string, budget: Budget) => boolean

// Compiling a longer pattern would take as long as matching it.
const MAX_LENGTH = 2000

/**
 * Compiles an ECMAScript pattern, which is not anchored. Throws an `UnsupportedError` if only a backtracking engine can
 * match it, a `SchemaError` if it is invalid.
 */
export function compilePattern(pattern: string, budget: Budget): Match {
  const { lookaheads, rest } = splitLookaheads(pattern)
  const main = compileLinear(rest, budget)
  const ahead = lookaheads.map(({ body, negative }) => ({ matches: compileLinear(`^(?:${body})`, budget), negative }))
  const matches: Matcher = (string, spent) =>
    main(string, spent) && ahead.every(({ matches, negative }) => matches(string, spent) !== negative)
  const hasDot = pattern.includes('.')
  return (string, spent) => {
    const result = matches(string, spent)
    const readings = IS_AMBIGUOUS.test(string) ? otherReadings(string, hasDot) : []
    if (readings.some((reading) => matches(reading, spent) !== result)) return 'ambiguous'
    return result ? 'yes' : 'no'
  }
}

const IS_AMBIGUOUS = /[\r\u2028\u2029\ud800-\udfff]/

/** The string as engines other than ECMAScript's read it, and ECMAScript's without the flag `u`. */
function otherReadings(string: string, hasDot: boolean): string[] {
  // A character outside the Basic Multilingual Plane is two.
  const halves = string.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) =>
    String.fromCodePoint(0x100000 + pair.charCodeAt(0), 0x100000 + pair.charCodeAt(1)),
  )
  if (!hasDot) return [halves]
  // Only a line feed ends a line: a dot matches the other line separators.
  return [halves, ...[string, halves].map((reading) => reading.replace(/[\r\u2028\u2029]/g, '\ufffc'))]
}

function compileLinear(pattern: string, budget: Budget): Matcher {
  if (pattern.length > MAX_LENGTH) throw new UnsupportedError(`the pattern is longer than ${MAX_LENGTH} characters`)
  budget.spend(COST.compilePattern(pattern.length, maxRepetitions(pattern)))
  const translated = toRe2(pattern)
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(translated))
    const unitsPerCharacter = COST.matchCharacter(program.programSize())
    return (string, spent) => {
      spent.spend(COST.matchPattern(string.length, unitsPerCharacter))
      return program.test(string)
    }
  } catch (cause) {
    const shown = `the pattern ${JSON.stringify(pattern.slice(0, 100))}`
    if (!isRegExp(pattern)) throw new SchemaError(`${shown} is not a valid regular expression`, { cause })
    throw new UnsupportedError(`${shown} cannot be matched in linear time`, { cause })
  }
}

/** With or without the flag `u`: JSON Schema requires it, but not every schema is written for it. */
function isRegExp(pattern: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(pattern, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}

/** The largest repetition count of the pattern, which bounds the size of the compiled program. */
function maxRepetitions(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)]
  return Math.max(1, ...counts.map(([, min, max]) => Math.max(Number(min), Number(max ?? 0))))
}

/** RE2 has no lookaheads. Those right after `^`, as zod writes them, can be matched as patterns of their own. */

interface Lookahead {
  body: string
  negative: boolean
}

/** `^(?!a)(?=b)c` matches where `^c` and `^b` match and `^a` does not. */
function splitLookaheads(pattern: string): { lookaheads: Lookahead[]; rest: string } {
  const lookaheads: Lookahead[] = []
  let at = 1
  while (pattern.startsWith('^') && /^\(\?[=!]/.test(pattern.slice(at, at + 3))) {
    const end = findOutsideGroups(pattern, ')', at + 3)
    // A quantifier makes it optional, which ECMAScript's older syntax allows.
    if (/[*+?{]/.test(pattern.charAt(end + 1))) break
    lookaheads.push({ body: pattern.slice(at + 3, end), negative: pattern[at + 2] === '!' })
    at = end + 1
  }
  // If there are alternatives, the lookahead belongs only to the first.
  if (lookaheads.length === 0 || findOutsideGroups(pattern, '|', at) < pattern.length) {
    return { lookaheads: [], rest: pattern }
  }
  return { lookaheads, rest: `^${pattern.slice(at)}` }
}

/** Index of the next `wanted` that is not in a group, class or escape; the pattern's length if it is not found. */
function findOutsideGroups(pattern: string, wanted: string, from: number): number {
  let depth = 0
  let inClass = false
  for (let at = from; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (inClass) inClass = character !== ']'
    else if (depth === 0 && character === wanted) return at
    else if (character === '[') inClass = true
    else if (character === '(') depth++
    else if (character === ')') depth--
  }
  return pattern.length
}

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
function toRe2(pattern: string): string {
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
