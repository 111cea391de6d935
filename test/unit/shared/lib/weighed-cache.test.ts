import { expect, test } from 'vitest'
import { weighedCache } from '../../../../src/shared/lib/weighed-cache.ts'

const MEBIBYTE = 1024 * 1024

function makeCache({ maxBytes = MEBIBYTE, maxAgeMs = 1000 } = {}) {
  const clock = { now: 5000 }
  return { clock, cache: weighedCache<string>({ maxBytes, maxAgeMs, now: () => clock.now }) }
}

const valuesOf = (cache: { get(key: string): string | undefined }, ...keys: string[]) =>
  keys.map((key) => cache.get(key) ?? null)

test('weighedCache: evicts the entries that were set first until the sizes fit', () => {
  const { cache } = makeCache()

  cache.set('a', 'A', 0.4 * MEBIBYTE)
  cache.set('b', 'B', 0.4 * MEBIBYTE)
  cache.set('c', 'C', 0.9 * MEBIBYTE)

  expect(valuesOf(cache, 'a', 'b', 'c')).toEqual([null, null, 'C'])
})

test('weighedCache: counts the size of an entry that is set again once', () => {
  const { cache } = makeCache()

  for (let round = 0; round < 10; round++) cache.set('a', `A${round}`, 0.4 * MEBIBYTE)
  cache.set('b', 'B', 0.4 * MEBIBYTE)

  expect(valuesOf(cache, 'a', 'b')).toEqual(['A9', 'B'])
})

test('weighedCache: a deleted entry makes room for another', () => {
  const { cache } = makeCache()

  cache.set('a', 'A', 0.4 * MEBIBYTE)
  cache.set('b', 'B', 0.4 * MEBIBYTE)
  cache.delete('b')
  cache.delete('unknown')
  cache.set('c', 'C', 0.4 * MEBIBYTE)

  expect(valuesOf(cache, 'a', 'b', 'c')).toEqual(['A', null, 'C'])
})

test('weighedCache: a value that is larger than the cache evicts nothing, except the value before it (threat 57)', () => {
  const { cache } = makeCache()

  cache.set('a', 'A', 100)
  cache.set('b', 'B', 100)
  cache.set('b', 'too large', MEBIBYTE)

  expect(valuesOf(cache, 'a', 'b')).toEqual(['A', null])
})

test('weighedCache: counts keys and entries too', () => {
  const { cache } = makeCache({ maxBytes: 100_000 })

  const keys = Array.from({ length: 1000 }, (_, count) => `key ${count}`)
  for (const key of keys) cache.set(key, 'V', 0)
  const kept = keys.filter((key) => cache.get(key) !== undefined).length
  cache.set('k'.repeat(45_000), 'V', 0)
  const keptBesideLongKey = keys.filter((key) => cache.get(key) !== undefined).length

  expect(kept).toBeGreaterThan(100)
  expect(kept).toBeLessThan(500)
  expect(keptBesideLongKey).toBeLessThan(kept / 5)
})

test('weighedCache: keeps nothing with a size of 0', () => {
  const { cache } = makeCache({ maxBytes: 0 })

  cache.set('a', 'A', 0)

  expect(cache.get('a')).toBeUndefined()
})

test('weighedCache: an entry is dropped when it is too old, even while it is read', () => {
  const { cache, clock } = makeCache({ maxAgeMs: 60 })
  cache.set('a', 'A', 1)
  clock.now += 59
  const young = cache.get('a')
  clock.now += 1

  expect([young, cache.get('a')]).toEqual(['A', undefined])
})
