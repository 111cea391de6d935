import { expect, test } from 'vitest'
import { anyEqual } from '../../../../src/shared/lib/digest.ts'

test('anyEqual: finds an equal pair at any position, and none where a single byte differs', () => {
  const expected = [
    [1, 2, 3],
    [4, 5, 6],
  ]

  expect(anyEqual([[4, 5, 6]], expected)).toBe(true)
  expect(
    anyEqual(
      [
        [9, 9, 9],
        [1, 2, 3],
      ],
      expected,
    ),
  ).toBe(true)
  expect(anyEqual([[1, 2, 4]], expected)).toBe(false)
  expect(anyEqual([], expected)).toBe(false)
  expect(anyEqual([[1, 2, 3]], [])).toBe(false)
})

test('anyEqual: a prefix, a longer sequence and a repetition differ', () => {
  const expected = [[1, 2]]

  const verdicts = [[], [1], [1, 2, 1], [1, 2, 1, 2], [1, 2]].map((presented) => anyEqual([presented], expected))
  expect(verdicts).toEqual([false, false, false, false, true])
})

test('anyEqual: reads a presented sequence to its end for each expected one, whatever those are (threat 37)', () => {
  const readsOf = (presented: number[], expected: number[][]) => {
    let reads = 0
    const counted = new Proxy(presented, {
      get(target, key, receiver) {
        if (/^\d+$/.test(String(key))) reads++
        return Reflect.get(target, key, receiver)
      },
    })
    anyEqual([counted], expected)
    return reads
  }

  const expected = [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]
  const presented = [
    [9, 2, 3, 4],
    [1, 2, 3, 9],
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]
  expect(presented.map((one) => readsOf(one, expected))).toEqual([8, 8, 8, 8])
  expect([[1], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]].map((other) => readsOf([1, 2, 3, 4], [other]))).toEqual([4, 4, 4])
})
