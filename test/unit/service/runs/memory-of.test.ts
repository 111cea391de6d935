import { expect, test } from 'vitest'
import { memoryOf } from '../../../../src/service/runs/closed-runs.ts'
import { parseJson } from '../../../../src/shared/lib/json.ts'

const MEBIBYTE = 1024 * 1024
const UNLIMITED = Number.POSITIVE_INFINITY

test.for([
  ['a long string', () => 'x'.repeat(MEBIBYTE)],
  ['a string in a string array', () => [['x'.repeat(MEBIBYTE)]]],
  ['a long key', () => ({ ['x'.repeat(MEBIBYTE)]: null })],
  ['many short strings', () => Array.from({ length: 100_000 }, (_, index) => `${index}`)],
  ['many numbers', () => Array.from({ length: 200_000 }, (_, index) => index / 3)],
  ['many empty objects', () => Array.from({ length: 100_000 }, () => ({}))],
  ['many exact numbers', () => parseJson(`[${'0.12345678901234567890,'.repeat(20_000)}1]`)],
] as const)('memoryOf: %s takes more than a mebibyte', ([, make]) => {
  expect(memoryOf(make(), UNLIMITED)).toBeGreaterThan(MEBIBYTE)
})

test('memoryOf: grows with each part of a value', () => {
  const values = [null, 17, '', 'ab', [], [1], ['ab'], { a: 1 }, { a: 'ab' }, { a: 'ab', b: [{}] }]

  const sizes = values.map((value) => memoryOf(value, UNLIMITED))

  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
  expect(sizes.every((size) => size < 1000)).toBe(true)
})

test('memoryOf: stops above the limit', () => {
  const read: number[] = []
  const watched = Array.from({ length: 1000 }, (_, index) => ({
    get text() {
      read.push(index)
      return 'x'.repeat(1000)
    },
  }))

  expect(memoryOf(watched, 100_000)).toBeGreaterThan(100_000)
  expect(read.length).toBeLessThan(100)
})

test('memoryOf: a value that is nested deeper than the call stack (threat 57)', () => {
  const depth = 200_000
  let nested: unknown = 'end'
  for (let level = 0; level < depth; level++) nested = [nested]

  expect(memoryOf(nested, UNLIMITED)).toBeGreaterThan(depth * 16)
})
