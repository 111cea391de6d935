import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatches, createSharedWaits, type Watch } from '../../../../../src/service/engine/waits/shared-waits.ts'
import { aCall } from '../../../call.ts'
import { COMPLETED, scriptedPorts, toRun } from './scripted-ports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const later = (ms = 3_600_000) => ({ deadlineAt: Date.now() + ms })

function sharedWaits(maxPolls: number) {
  const scripted = scriptedPorts(maxPolls)
  const { wait } = createSharedWaits(scripted.ports)
  return { ...scripted, wait, waitFor: (number: number, call = aCall(later())) => wait(toRun(number), call) }
}

test('shared waits: a wait ends at its own deadline, the others continue', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const short = waitFor(1, aCall(later(1000)))
  const long = waitFor(1)

  await vi.advanceTimersByTimeAsync(1000)
  expect(await short).toBeNull()
  polls[0]?.end(COMPLETED)

  expect(await long).toEqual(COMPLETED)
})

test('shared waits: the poll is aborted when its last waiter has left', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const clients = [new AbortController(), new AbortController()]
  const waiting = clients.map(({ signal }) => waitFor(1, aCall({ signal, ...later() })))

  clients[0]?.abort()
  expect(polls[0]?.signal.aborted).toBe(false)
  clients[1]?.abort()

  expect(polls[0]?.signal.aborted).toBe(true)
  expect(await Promise.all(waiting)).toEqual([null, null])
})

test('shared waits: leave no timer and no listener', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const { signal } = new AbortController()
  const waiting = waitFor(1, aCall({ signal, ...later() }))

  polls[0]?.end(COMPLETED)
  await waiting

  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('shared waits: an error of the poll reaches every waiter, and its notes every log line', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const calls = [aCall(later()), aCall(later())]
  const waiting = calls.map((call) => waitFor(1, call))
  const rejected = Promise.all(waiting.map((wait) => expect(wait).rejects.toThrow('no such run')))

  polls[0]?.note({ waitInterrupted: 'down' })
  polls[0]?.fail(new Error('no such run'))

  await rejected
  expect(calls.map(({ notes }) => notes)).toEqual([{ waitInterrupted: 'down' }, { waitInterrupted: 'down' }])
})

test('shared waits: the runs that were waited for last have the polls', async () => {
  const { waitFor, openPolls } = sharedWaits(2)

  for (const number of [1, 2, 3, 4]) {
    void waitFor(number)
    await vi.advanceTimersByTimeAsync(2000)
  }

  expect(openPolls()).toEqual(['run-3', 'run-4'])
})

test('shared waits: a poll that was opened less than 2 s ago is not given up', async () => {
  const { waitFor, openPolls } = sharedWaits(1)
  void waitFor(1)
  await vi.advanceTimersByTimeAsync(1999)

  void waitFor(2)

  expect(openPolls()).toEqual(['run-1'])
})

test('shared waits: a caller above its share takes no poll of others, even if it has none to give up (threat 29)', async () => {
  const { waitFor, openPolls, ports } = sharedWaits(4)
  void waitFor(1)
  void waitFor(2)
  // For a stream.
  ports.slots.take('token:web')
  await vi.advanceTimersByTimeAsync(2000)

  void waitFor(
    3,
    aCall({ ...later(), caller: { kind: 'granted' as const, id: 'token:web', grants: [], limits: null } }),
  )

  expect(openPolls()).toEqual(['run-1', 'run-2'])
})

test('shared waits: a caller without a poll gets the oldest one of others (threat 29)', async () => {
  const { waitFor, openPolls } = sharedWaits(2)
  void waitFor(1)
  void waitFor(2)
  await vi.advanceTimersByTimeAsync(2000)

  void waitFor(
    3,
    aCall({ ...later(), caller: { kind: 'granted' as const, id: 'token:web', grants: [], limits: null } }),
  )

  expect(openPolls()).toEqual(['run-2', 'run-3'])
})

test('shared waits: a run without a poll is read, and ends when it has ended', async () => {
  const { waitFor, ended, reads } = sharedWaits(1)
  void waitFor(1)
  const second = waitFor(2)
  await vi.advanceTimersByTimeAsync(1000)
  ended.add('run-2')

  await vi.advanceTimersByTimeAsync(1000)

  expect(await second).toEqual(COMPLETED)
  expect(reads).toEqual(['run-2', 'run-2'])
})

test('shared waits: a run whose poll the engine rejects is read, and no poll is opened above the lowered limit', async () => {
  const { waitFor, polls, ended } = sharedWaits(10)
  for (const number of [1, 2, 3, 4, 5]) void waitFor(number)
  const rejected = waitFor(6)
  polls[5]?.end('limited')
  await vi.advanceTimersByTimeAsync(0)
  ended.add('run-6')
  const opened = polls.length

  await vi.advanceTimersByTimeAsync(1000)

  expect(await rejected).toEqual(COMPLETED)
  expect(polls).toHaveLength(opened)
})

test('shared waits: a run that has waited for a poll gets one when the limit rises again', async () => {
  const { waitFor, polls } = sharedWaits(10)
  void waitFor(1)
  polls[0]?.end('limited')
  await vi.advanceTimersByTimeAsync(19_000)
  expect(polls).toHaveLength(1)

  await vi.advanceTimersByTimeAsync(2000)

  expect(polls.map(({ runId }) => runId)).toEqual(['run-1', 'run-1'])
})

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
