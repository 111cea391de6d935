/** Regular expressions that others have written, matched in linear time. */
import { RE2JS } from 're2js'
import { SchemaFault, type Work } from './run.ts'

export type Matches = (text: string, work: Work) => boolean

// Beyond it a program is as slow to make as it is to run.
const MAX_LENGTH = 2000

/**
 * An ECMAScript pattern as a test, not anchored; throws a `SchemaFault` for what only a backtracking engine can match.
 *
 * Lookaheads right after `^`, as zod writes them, are patterns of their own; `\s` is ASCII here.
 */
export function compilePattern(pattern: string, work: Work): Matches {
  const { ahead, rest } = splitLookaheads(pattern)
  const main = compileLinear(rest, work)
  if (ahead.length === 0) return main
  const others = ahead.map(({ body, wanted }) => ({
    matches: compileLinear(`^(?:${body})`, work),
    wanted,
  }))
  return (text, spent) => main(text, spent) && others.every(({ matches, wanted }) => matches(text, spent) === wanted)
}

function compileLinear(pattern: string, work: Work): Matches {
  if (pattern.length > MAX_LENGTH) throw new SchemaFault(`a pattern has more than ${MAX_LENGTH} characters`)
  work.spend(600 + 12 * pattern.length * mostRepeated(pattern))
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(pattern))
    const unitsPerCharacter = 1 + program.programSize() / 50
    return (text, spent) => {
      spent.spend(20 + text.length * unitsPerCharacter)
      return program.test(text)
    }
  } catch (cause) {
    throw new SchemaFault(`the pattern ${JSON.stringify(pattern.slice(0, 100))} can't be matched in linear time`, { cause })
  }
}

/** A program has its repeated parts written out: the largest count tells how long it may get. */
function mostRepeated(pattern: string): number {
  return Math.max(
    1,
    ...[...pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)].map(([, least, most]) => Math.max(Number(least), Number(most ?? 0))),
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
