import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatches, lookUpEveryMs, type Watch } from '../../../../src/engine/waits/watch.ts'
import { toRun } from './scripted-ports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** `count` runs without a poll, and what is called for them. */
function batchesOf(count: number) {
  const queries: string[][] = []
  const checks: string[] = []
  const listed = new Set<string>()
  const store = { isUp: true, answer: Promise.resolve() }
  const batches = createBatches({
    beforeLookUp() {},
    async findEnded(runs) {
      queries.push(runs.map(({ runId }) => runId))
      await store.answer
      if (!store.isUp) throw new Error('no visibility store')
      return listed
    },
    async check(watch) {
      watch.checkedAt = Date.now()
      checks.push(watch.run.runId)
      // As for a run that has ended.
      if (listed.has(watch.run.runId)) batches.delete(watch)
    },
  })
  const watches = Array.from(
    { length: count },
    (_, number): Watch => ({ run: toRun(number), waiters: new Set(), checkedAt: Date.now() }),
  )
  for (const watch of watches) batches.add(watch)
  return { batches, watches, queries, checks, listed, store }
}

test('lookUpEveryMs: all runs are looked up in 1 s to 2.5 s, a hundred at a time', () => {
  expect([1, 100, 1000, 2000, 2500, 5000].map(lookUpEveryMs)).toEqual([1000, 1000, 100, 100, 100, 50])
})

test('batches: up to ten runs are read one by one every second, without a query', async () => {
  const { queries, checks } = batchesOf(10)

  await vi.advanceTimersByTimeAsync(2000)

  expect(queries).toEqual([])
  expect(checks).toHaveLength(20)
})

test('batches: more runs are queried, and only those listed as ended are read, besides two', async () => {
  const { queries, checks, listed } = batchesOf(50)
  listed.add('run-17')

  await vi.advanceTimersByTimeAsync(1000)

  expect(queries).toEqual([Array.from({ length: 50 }, (_, number) => `run-${number}`)])
  expect(checks.toSorted()).toEqual(['run-0', 'run-1', 'run-17'])
})

test('batches: every run is read once in a while, even if the store never lists it', async () => {
  const { checks } = batchesOf(50)

  await vi.advanceTimersByTimeAsync(25_000)

  expect(new Set(checks).size).toBe(50)
})

test('batches: if the query fails, ten runs are read instead, and the query is repeated', async () => {
  const { queries, checks, store } = batchesOf(50)
  store.isUp = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(checks).toHaveLength(10)
  store.isUp = true

  await vi.advanceTimersByTimeAsync(1000)

  expect(queries).toHaveLength(2)
  expect(checks).toHaveLength(12)
})

test('batches: a thousand runs are looked up in ten queries per second, each run once', async () => {
  const { queries } = batchesOf(1000)
  // The first lookup was scheduled when there was one run.
  await vi.advanceTimersByTimeAsync(900)

  await vi.advanceTimersByTimeAsync(1000)

  expect(queries.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 100))
  expect(new Set(queries.flat()).size).toBe(1000)
})

test('batches: lookups that are late are made up for', async () => {
  const { queries } = batchesOf(1000)
  await vi.advanceTimersByTimeAsync(1000)
  queries.length = 0

  // The process does not run for half a second.
  const { now } = performance
  using _ = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 500)
  await vi.advanceTimersByTimeAsync(500)

  expect(queries.length).toBeGreaterThanOrEqual(9)
})

test('batches: lookups continue when the clock of the system is set back', async () => {
  const { queries } = batchesOf(50)
  await vi.advanceTimersByTimeAsync(1000)

  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(2000)

  expect(queries).toHaveLength(3)
})

test('batches: a slow store gets at most four queries at a time, and never two for the same run', async () => {
  const many = batchesOf(1000)
  many.store.answer = new Promise(() => {})
  const few = batchesOf(50)
  few.store.answer = new Promise(() => {})

  await vi.advanceTimersByTimeAsync(60_000)

  expect([many.queries.length, few.queries.length]).toEqual([4, 1])
})

test('batches: a run that has left is looked up no more', async () => {
  const { batches, watches, checks } = batchesOf(2)
  const [first] = watches
  if (first) batches.delete(first)

  await vi.advanceTimersByTimeAsync(1000)

  expect(checks).toEqual(['run-1'])
})

test('batches: shift gives the run whose lookup is due first', async () => {
  const { batches } = batchesOf(201)

  expect(batches.shift()?.run.runId).toBe('run-0')
  await vi.advanceTimersByTimeAsync(1000)
  expect(batches.shift()?.run.runId).toBe('run-101')
})

test('batches: lookups stop without runs, and start again', async () => {
  const { batches, watches, checks } = batchesOf(1)
  const [only] = watches
  if (only === undefined) throw new Error('no run')
  batches.delete(only)
  await vi.advanceTimersByTimeAsync(5000)
  expect(vi.getTimerCount()).toBe(0)

  batches.add(only)
  await vi.advanceTimersByTimeAsync(1000)

  expect(checks).toEqual(['run-0'])
})
