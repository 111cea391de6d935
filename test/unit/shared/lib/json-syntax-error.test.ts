import { expect, test } from 'vitest'
import { findJsonSyntaxError } from '../../../../src/shared/lib/json-syntax-error.ts'

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
])('findJsonSyntaxError: %j is invalid at line %i, column %i', (text, line, column) => {
  expect(findJsonSyntaxError(text)).toEqual({ line, column, atEnd: false })
})

test.each(['', ' ', '{', '{"a"', '{"a":', '[1,', '"abc', '"abc\\', '-'])(
  'findJsonSyntaxError: %j ends too early',
  (text) => {
    expect(findJsonSyntaxError(text)?.atEnd ?? false).toBe(!['-', '"abc\\'].includes(text))
  },
)

test('findJsonSyntaxError: takes no stack for nested documents, and one pass for long ones (threat 47)', () => {
  expect(findJsonSyntaxError(`${'['.repeat(1_000_000)}`)).toEqual({ line: 1, column: 1_000_001, atEnd: true })
  expect(findJsonSyntaxError(`["${'x'.repeat(2_000_000)}`)?.atEnd).toBe(true)
  expect(findJsonSyntaxError(`${'1'.repeat(2_000_000)}x`)?.column).toBe(2_000_001)
})

test('findJsonSyntaxError: agrees with JSON.parse on every string that is one edit away from JSON', () => {
  const valid = '{"a": [1, -2.5e+3, true, null, "x\\u00e9\\n"], "b": {}, "c": []}'
  const letters = [...'{}[]:,"\\ \n01.-+eEtfu/a']
  const texts = Array.from(valid, (_, at) => [
    `${valid.slice(0, at)}${valid.slice(at + 1)}`,
    ...letters.flatMap((letter) => [
      `${valid.slice(0, at)}${letter}${valid.slice(at)}`,
      `${valid.slice(0, at)}${letter}${valid.slice(at + 1)}`,
    ]),
  ]).flat()

  const disagreements = texts.filter((text) => isJson(text) !== (findJsonSyntaxError(text) === null))

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
