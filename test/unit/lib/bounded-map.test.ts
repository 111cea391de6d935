import { expect, test } from 'vitest'
import { boundedMap } from '../../../src/lib/bounded-map.ts'

test('boundedMap: evicts the entry that was set longest ago', () => {
  const map = boundedMap<string, number>(2)

  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  map.set('c', 4)

  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
  expect([map.has('a'), map.has('b')]).toEqual([true, false])
})

test('boundedMap: a deleted entry makes room for another', () => {
  const map = boundedMap<string, number>(2)

  map.set('a', 1)
  map.set('b', 2)
  map.delete('a')
  map.set('c', 3)

  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 3])
})
