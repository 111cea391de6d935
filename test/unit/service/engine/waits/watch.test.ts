import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatches, type Watch } from '../../../../../src/service/engine/waits/watch.ts'
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
    (_, number): Watch => ({ holder: null, run: toRun(number), waiters: new Set(), checkedAt: Date.now() }),
  )
  for (const watch of watches) batches.add(watch)
  return { batches, watches, queries, checks, listed, store }
}

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

test('batches: a slow store gets at most four queries at a time, and never two for the same run', async () => {
  const many = batchesOf(1000)
  many.store.answer = new Promise(() => {})
  const few = batchesOf(50)
  few.store.answer = new Promise(() => {})

  await vi.advanceTimersByTimeAsync(60_000)

  expect([many.queries.length, few.queries.length]).toEqual([4, 1])
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
