import { expect, test } from 'vitest'
import { boundedMap, decideFresh, lazy, readThroughCache } from '../../../../src/shared/lib/cache.ts'
import { isolateRequests } from '../../../support/isolate-requests.ts'

test('concurrent callers share one read', async () => {
  const { read, reads } = counted()
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 10 })

  const values = await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])

  expect(values.map(({ value }) => value)).toEqual(['a1', 'a1', 'b2'])
  expect(reads()).toBe(2)
})

test('on workerd each caller reads until one value is cached', async () => {
  isolateRequests()
  const { read, reads } = counted()
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 10 })

  const first = await Promise.all([cache.get('a'), cache.get('a')])
  const second = await cache.get('a')

  expect(first.map(({ value }) => value)).toEqual(['a1', 'a2'])
  expect(second.value).toBe('a2')
  expect(reads()).toBe(2)
})

test.for(['Node', 'workerd'])('a failed read is not cached (%s)', async (runtime) => {
  if (runtime === 'workerd') isolateRequests()
  let fails = true
  const read = async () => {
    if (fails) throw new Error('not now')
    return 'well'
  }
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 10 })

  await expect(cache.get('a')).rejects.toThrow('not now')
  fails = false

  expect((await cache.get('a')).value).toBe('well')
})

test.for(['Node', 'workerd'])('readAt is the time at which the read began (%s)', async (runtime) => {
  if (runtime === 'workerd') isolateRequests()
  let now = 100
  const read = async () => {
    now = 150
    return 'value'
  }
  const cache = readThroughCache({ name: 'test', read, ttlMs: 60, maxKeys: 10, now: () => now })

  expect(await cache.get('a')).toEqual({ value: 'value', readAt: 100 })
  expect((await cache.get('a', 100)).readAt).toBe(100)
  expect((await cache.get('a', 101)).readAt).toBe(150)
  now = 220
  expect((await cache.get('a')).readAt).toBe(220)
})

test('callers that need a newer value than the read in flight share the next read', async () => {
  const { read, reads } = controlled()
  let now = 100
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 10, now: () => now })

  const first = cache.get('a')
  now = 101
  const late = [cache.get('a', 101), cache.get('a', 101), cache.get('a', 101)]
  now = 102
  reads[0]?.resolve('old')
  await first
  reads[1]?.resolve('new')

  expect(await Promise.all(late)).toEqual(late.map(() => ({ value: 'new', readAt: 102 })))
  expect(reads).toHaveLength(2)
})

test('a failed read in flight does not fail callers that need a newer value', async () => {
  const { read, reads } = controlled()
  let now = 100
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 10, now: () => now })

  const first = cache.get('a')
  now = 101
  const late = cache.get('a', 101)
  reads[0]?.reject(new Error('not now'))
  await expect(first).rejects.toThrow('not now')
  reads[1]?.resolve('well')

  expect(await late).toEqual({ value: 'well', readAt: 101 })
})

test('a value that was set is returned without a read until it expires', async () => {
  const { read, reads } = counted()
  let now = 100
  const cache = readThroughCache({ name: 'test', read, ttlMs: 60, maxKeys: 10, now: () => now })

  cache.set('a', 'known')

  expect(await cache.get('a')).toEqual({ value: 'known', readAt: 100 })
  expect(reads()).toBe(0)
  now = 160
  expect((await cache.get('a')).value).toBe('a1')
})

test('keys beyond maxKeys are evicted, the one read longest ago first', async () => {
  const { read, reads } = counted()
  const cache = readThroughCache({ name: 'test', read, ttlMs: 1000, maxKeys: 2 })

  for (const key of ['a', 'b', 'c']) await cache.get(key)

  expect([(await cache.get('c')).value, (await cache.get('b')).value]).toEqual(['c3', 'b2'])
  expect((await cache.get('a')).value).toBe('a4')
  expect(reads()).toBe(4)
})

/** Reads that the test settles one by one. */
function controlled() {
  const reads: PromiseWithResolvers<string>[] = []
  const read = () => {
    const reading = Promise.withResolvers<string>()
    reads.push(reading)
    return reading.promise
  }
  return { read, reads }
}

function counted() {
  let count = 0
  return { read: async (key: string) => `${key}${++count}`, reads: () => count }
}

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

interface Decision {
  rejects: boolean
  readAt: number
}

/** What is decided at the time 100, and how often. */
async function decideFrom(cached: Decision, fresh: Decision) {
  const asked: number[] = []
  const decision = await decideFresh(
    async (freshSince) => {
      asked.push(freshSince)
      return freshSince === 0 ? cached : fresh
    },
    ({ rejects, readAt }) => (rejects ? readAt : null),
    () => 100,
  )
  return { decision, asked }
}

test.for<[sentence: string, cached: Decision, isReadAgain: boolean]>([
  ['an acceptance from cached values counts', { rejects: false, readAt: 1 }, false],
  ['a rejection from older values is decided again', { rejects: true, readAt: 99 }, true],
  ['a rejection from values that were read since the request arrived counts', { rejects: true, readAt: 100 }, false],
])('decide fresh: %s', async ([, cached, isReadAgain]) => {
  const fresh = { rejects: !cached.rejects, readAt: 101 }

  expect(await decideFrom(cached, fresh)).toEqual(
    isReadAgain ? { decision: fresh, asked: [0, 100] } : { decision: cached, asked: [0] },
  )
})

test('lazy: loads once, on first use', async () => {
  let loads = 0
  const value = lazy(
    async () => ++loads,
    (load) => `load ${load}`,
  )

  expect(value.current).toBeUndefined()
  expect(await value.get()).toBe('load 1')
  expect(await value.get()).toBe('load 1')
  expect(value.current).toBe('load 1')
})

test('lazy: a load that failed is repeated', async () => {
  const outcomes = [Promise.reject(new Error('no such module')), Promise.resolve('loaded')]
  const value = lazy(
    async () => outcomes.shift(),
    (outcome) => outcome,
  )

  await expect(value.get()).rejects.toThrow('no such module')

  expect(await value.get()).toBe('loaded')
})

test('lazy: two first uses at the same time create one value', async () => {
  let created = 0
  const value = lazy(
    async () => {},
    () => ++created,
  )

  expect(await Promise.all([value.get(), value.get()])).toEqual([1, 1])
  expect(created).toBe(1)
})
