import { expect, test } from 'vitest'
import { anyEqual } from '../../../src/lib/any-equal.ts'

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

test('anyEqual: reads every byte of every pair, wherever the first difference or the equal pair is', () => {
  const expected = [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]
  const readsOf = (presented: number[]) => {
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

  const inputs = [
    [9, 2, 3, 4],
    [1, 2, 3, 9],
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]
  expect(inputs.map(readsOf)).toEqual([8, 8, 8, 8])
})
