/** Regular expressions from untrusted schemas, matched in linear time. */
import { RE2JS } from 're2js'
import { type Budget, COST } from '../check.ts'
import { SchemaError, UnsupportedError } from '../errors.ts'
import { splitLookaheads } from './lookaheads.ts'
import { toRe2 } from './re2-syntax.ts'

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
