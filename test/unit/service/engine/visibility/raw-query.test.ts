import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rawQueryIssue } from '../../../../../src/service/engine/run-query.ts'

test('rawQueryIssue: accepts what is one expression', () => {
  const queries = [
    "WorkflowType = 'order'",
    "(WorkflowType = 'a' OR (Customer = 'b')) AND Paid = true",
    'WorkflowId STARTS_WITH "it\'s (not) -- closed; # /* //"',
    "WorkflowId = 'it''s' AND Note = 'back\\'slash)'",
    "`my-attribute` = 'x' AND Amount BETWEEN -1 AND 5",
    "WorkflowId = '\\\\' AND (Amount > 3)",
  ]

  expect(queries.map(rawQueryIssue)).toEqual(queries.map(() => null))
})

test('rawQueryIssue: names what would leave the parentheses (threat 41)', () => {
  const issues = new Map([
    ['', 'must not be empty'],
    [' ', 'must not be empty'],
    ["a = 'b", 'must have balanced quotes'],
    ['a = "b', 'must have balanced quotes'],
    ['`a = 1', 'must have balanced quotes'],
    ["a = 'b\\'", 'must have balanced quotes'],
    ["a = 'b\\\\''", 'must have balanced quotes'],
    ['a = 1)', 'must have balanced parentheses'],
    ['(a = 1', 'must have balanced parentheses'],
    ['a = 1) OR (b = 2', 'must have balanced parentheses'],
    ['a = 1 -- b', 'must not contain comments'],
    ['a = 1 /* b */', 'must not contain comments'],
    ['a = 1 // b', 'must not contain comments'],
    ['a = 1 # b', 'must not contain comments'],
    ['a = 1; b', 'must not contain a semicolon'],
    ['a'.repeat(10_001), 'must have at most 10000 characters'],
  ])

  expect([...issues.keys()].map(rawQueryIssue)).toEqual([...issues.values()])
})

test('rawQueryIssue: what it accepts keeps the conditions after it outside of every string and parenthesis (threat 41)', () => {
  const pieces = fc.constantFrom("'", '"', '`', '\\', '(', ')', '-', '/', '*', '#', ';', ' ', 'a', '=')
  const query = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

  fc.assert(
    fc.property(query, (text) => {
      fc.pre(rawQueryIssue(text) === null)
      expect(stateAfter(`(${text})`)).toEqual({ quote: null, depth: 0 })
    }),
    { numRuns: 1000 },
  )
})

/** Reads the characters one by one, as the engine's tokenizer does. */
function stateAfter(text: string): { quote: string | null; depth: number } {
  const state = { quote: null as string | null, depth: 0 }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (state.quote === null) outsideQuotes(character, state)
    else if (character === '\\' && state.quote !== '`') at++
    else if (character === state.quote) state.quote = null
  }
  return state
}

function outsideQuotes(character: string, state: { quote: string | null; depth: number }): void {
  if ('\'"`'.includes(character)) state.quote = character
  if (character === '(') state.depth++
  if (character === ')') state.depth--
}
