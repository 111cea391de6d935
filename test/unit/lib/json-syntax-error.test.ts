import { expect, test } from 'vitest'
import { findJsonFault } from '../../../src/lib/json-syntax-error.ts'

test.each([
  ['{bad', 1, 2],
  ['{"a": 1,}', 1, 9],
  ['{"a" 1}', 1, 6],
  ['{"a":\n  tru}', 2, 3],
  ['[1 2]', 1, 4],
  ['[1}', 1, 3],
  ['01', 1, 2],
  ['1.', 1, 2],
  ['nullx', 1, 5],
  ['"a\nb"', 1, 3],
  ['"\\x"', 1, 2],
  ["{'a': 1}", 1, 2],
  ['{}{}', 1, 3],
  ['NaN', 1, 1],
])('findJsonFault: %j is no JSON from line %i, column %i on', (text, line, column) => {
  expect(findJsonFault(text)).toEqual({ line, column, atEnd: false })
})

test.each(['', ' ', '{', '{"a"', '{"a":', '[1,', '"abc', '"abc\\', '-'])('findJsonFault: %j ends too early', (text) => {
  expect(findJsonFault(text)?.atEnd ?? false).toBe(!['-', '"abc\\'].includes(text))
})

test('findJsonFault: needs no stack for what is nested, and one pass for what is long', () => {
  expect(findJsonFault(`${'['.repeat(1_000_000)}`)).toEqual({ line: 1, column: 1_000_001, atEnd: true })
  expect(findJsonFault(`["${'x'.repeat(2_000_000)}`)?.atEnd).toBe(true)
  expect(findJsonFault(`${'1'.repeat(2_000_000)}x`)?.column).toBe(2_000_001)
})

test('findJsonFault: agrees with JSON.parse about every text that is one letter from JSON', () => {
  const sound = '{"a": [1, -2.5e+3, true, null, "x\\u00e9\\n"], "b": {}, "c": []}'
  const letters = [...'{}[]:,"\\ \n01.-+eEtfu/a']
  const texts = Array.from(sound, (_, at) => [
    `${sound.slice(0, at)}${sound.slice(at + 1)}`,
    ...letters.flatMap((letter) => [
      `${sound.slice(0, at)}${letter}${sound.slice(at)}`,
      `${sound.slice(0, at)}${letter}${sound.slice(at + 1)}`,
    ]),
  ]).flat()

  const disagreements = texts.filter((text) => isJson(text) !== (findJsonFault(text) === null))

  expect(texts.length).toBeGreaterThan(2000)
  expect(disagreements).toEqual([])
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
