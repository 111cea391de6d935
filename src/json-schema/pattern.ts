/** Regular expressions that others have written, matched in linear time. */
import { RE2JS } from 're2js'
import { SchemaFault, Unsupported, type Work } from './run.ts'

/** Whether it matches; it may depend on what the worker takes for a character, and for the end of a line. */
export type Match = (text: string, work: Work) => 'yes' | 'no' | 'depends'

type Test = (text: string, work: Work) => boolean

// Beyond it a program is as slow to make as it is to run.
const MAX_LENGTH = 2000

/**
 * An ECMAScript pattern, not anchored; throws `Unsupported` for what only a backtracking engine can match, a
 * `SchemaFault` for what is not a pattern.
 *
 * Lookaheads right after `^`, as zod writes them, are patterns of their own.
 */
export function compilePattern(pattern: string, work: Work): Match {
  const { ahead, rest } = splitLookaheads(pattern)
  const main = compileLinear(rest, work)
  const lookaheads = ahead.map(({ body, wanted }) => ({ test: compileLinear(`^(?:${body})`, work), wanted }))
  const matches: Test = (text, spent) =>
    main(text, spent) && lookaheads.every(({ test, wanted }) => test(text, spent) === wanted)
  const hasDot = pattern.includes('.')
  return (text, spent) => {
    const verdict = matches(text, spent)
    const others = MAY_BE_READ_OTHERWISE.test(text) ? otherReadings(text, hasDot) : []
    if (others.some((other) => matches(other, spent) !== verdict)) return 'depends'
    return verdict ? 'yes' : 'no'
  }
}

const MAY_BE_READ_OTHERWISE = /[\r\u2028\u2029\ud800-\udfff]/

/** The string as engines other than ECMAScript's see it, and that one without the flag `u`. */
function otherReadings(text: string, hasDot: boolean): string[] {
  // Beyond the first 65 536 a character is two.
  const halves = text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) =>
    String.fromCodePoint(0x100000 + pair.charCodeAt(0), 0x100000 + pair.charCodeAt(1)),
  )
  if (!hasDot) return [halves]
  // Only a line feed ends a line: a dot matches the others.
  return [halves, ...[text, halves].map((reading) => reading.replace(/[\r\u2028\u2029]/g, '\ufffc'))]
}

function compileLinear(pattern: string, work: Work): Test {
  if (pattern.length > MAX_LENGTH) throw new Unsupported(`a pattern has more than ${MAX_LENGTH} characters`)
  // Measured with code that is not yet optimized, as when a catalog is read for the first time.
  work.spend(1200 + 12 * pattern.length * mostRepeated(pattern))
  const translated = toRe2(pattern)
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(translated))
    const unitsPerCharacter = 1 + program.programSize() / 50
    return (text, spent) => {
      spent.spend(20 + text.length * unitsPerCharacter)
      return program.test(text)
    }
  } catch (cause) {
    if (!isRegExp(pattern))
      throw new SchemaFault(`the pattern ${JSON.stringify(pattern.slice(0, 100))} is not a regular expression`, {
        cause,
      })
    throw new Unsupported(`the pattern ${JSON.stringify(pattern.slice(0, 100))} can't be matched in linear time`, {
      cause,
    })
  }
}

/** With or without the flag `u`: JSON Schema asks for it, but not all that is written for it has it. */
function isRegExp(pattern: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(pattern, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}

// https://tc39.es/ecma262/#prod-CharacterClassEscape. RE2's own classes at both ends: nothing becomes a range with what is beside it.
const SPACE = '\\s\\x{b}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}\\s'
const NO_SPACE =
  '\\d\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}\\d'

const TOKEN = /\\.|[[\].]/gs

/** The pattern in RE2's words where it reads ECMAScript's in another way; throws for what other languages read in yet another. */
function toRe2(pattern: string): string {
  if (/\{,\d/.test(pattern)) throw new Unsupported('some languages read {,n} as a count, and some as text')
  if (/[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(pattern))
    throw new Unsupported('a character of it is two to some languages')
  let inClass = false
  return pattern.replace(TOKEN, (token: string, at: number) => {
    switch (token) {
      case '[':
        if (inClass && pattern[at + 1] === ':')
          throw new Unsupported('some languages read [[: as a named class, and some as text')
        inClass = true
        return token
      case ']':
        inClass = false
        return token
      case '.':
        return inClass ? token : '[^\\n\\r\\x{2028}\\x{2029}]'
      case '\\s':
        return inClass ? SPACE : `[${SPACE}]`
      case '\\S':
        return inClass ? NO_SPACE : `[${NO_SPACE}]`
      case '\\b':
        return inClass ? '\\x08' : token
      case '\\k':
        throw new Unsupported('it refers to what a group has matched')
      default:
        return token
    }
  })
}

/** A program has its repeated parts written out: the largest count tells how long it may get. */
function mostRepeated(pattern: string): number {
  return Math.max(
    1,
    ...[...pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)].map(([, least, most]) =>
      Math.max(Number(least), Number(most ?? 0)),
    ),
  )
}

interface Lookahead {
  body: string
  wanted: boolean
}

/** `^(?!a)(?=b)c` is: not `^a`, and `^b`, and `^c`. */
function splitLookaheads(pattern: string): {
  ahead: Lookahead[]
  rest: string
} {
  const ahead: Lookahead[] = []
  let at = 1
  while (pattern.startsWith('^') && /^\(\?[=!]/.test(pattern.slice(at, at + 3))) {
    const end = endOf(pattern, at + 3, ')')
    // One that may be left out, as ECMAScript's older syntax has it.
    if (/[*+?{]/.test(pattern.charAt(end + 1))) break
    ahead.push({
      body: pattern.slice(at + 3, end),
      wanted: pattern[at + 2] === '=',
    })
    at = end + 1
  }
  // With alternatives beside it a lookahead belongs to the first of them alone.
  if (ahead.length === 0 || endOf(pattern, at, '|') < pattern.length) return { ahead: [], rest: pattern }
  return { ahead, rest: `^${pattern.slice(at)}` }
}

/** Index of the next `wanted` that is in no group, class or escape; the length when there is none. */
function endOf(pattern: string, from: number, wanted: string): number {
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
