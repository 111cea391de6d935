import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSharedWaits } from '../../../../src/engine/waits/shared-waits.ts'
import { aCall } from '../../call.ts'
import { COMPLETED, scriptedPorts, toRun } from './scripted-ports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const later = (ms = 3_600_000) => ({ deadlineAt: Date.now() + ms })

function sharedWaits(maxPolls: number) {
  const scripted = scriptedPorts(maxPolls)
  const { wait } = createSharedWaits(scripted.ports)
  return { ...scripted, wait, waitFor: (number: number, call = aCall(later())) => wait(toRun(number), call) }
}

test('shared waits: all waits for one run share one poll', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const waiting = [1, 1, 1].map((number) => waitFor(number))

  expect(polls).toHaveLength(1)
  polls[0]?.end(COMPLETED)

  expect(await Promise.all(waiting)).toEqual([COMPLETED, COMPLETED, COMPLETED])
})

test('shared waits: the same run id of another workflow is another run', async () => {
  const { wait, polls } = sharedWaits(10)

  void wait({ workflowId: 'a', runId: 'run' }, aCall(later()))
  void wait({ workflowId: 'b', runId: 'run' }, aCall(later()))

  expect(polls).toHaveLength(2)
})

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

test('shared waits: a wait after the last waiter has left has a new poll', async () => {
  const { waitFor, polls } = sharedWaits(10)
  const client = new AbortController()
  void waitFor(1, aCall({ signal: client.signal, ...later() }))
  client.abort()

  const waiting = waitFor(1)
  polls[1]?.end(COMPLETED)

  expect(await waiting).toEqual(COMPLETED)
})

test('shared waits: a wait whose client has left before does not poll', async () => {
  const { waitFor, polls } = sharedWaits(10)

  expect(await waitFor(1, aCall({ signal: AbortSignal.abort(), ...later() }))).toBeNull()
  expect(await waitFor(1, aCall({ deadlineAt: Date.now() }))).toBeNull()
  expect(polls).toEqual([])
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

test('shared waits: a poll that ends makes room for a run without one', async () => {
  const { waitFor, polls, openPolls } = sharedWaits(1)
  const first = waitFor(1)
  void waitFor(2)

  polls[0]?.end(COMPLETED)
  await vi.advanceTimersByTimeAsync(1000)

  expect(await first).toEqual(COMPLETED)
  expect(openPolls()).toEqual(['run-2'])
})

test('shared waits: no poll is opened while all clients leave at once', () => {
  const { waitFor, polls } = sharedWaits(2)
  const client = new AbortController()
  for (const number of [1, 2, 3, 4, 5, 6]) void waitFor(number, aCall({ signal: client.signal, ...later() }))

  client.abort()

  expect(polls).toHaveLength(2)
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

test('shared waits: a final error of the read reaches the waiters of a run without a poll', async () => {
  const { waitFor, failures } = sharedWaits(1)
  void waitFor(1)
  const second = waitFor(2)
  failures.read = new Error('no such run')
  const rejected = expect(second).rejects.toThrow('no such run')

  await vi.advanceTimersByTimeAsync(1000)

  await rejected
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

test('shared waits: lookups stop after the last wait', async () => {
  const { waitFor, polls, reads } = sharedWaits(1)
  const client = new AbortController()
  void waitFor(1, aCall({ signal: client.signal, ...later() }))
  polls[0]?.end('limited')
  await vi.advanceTimersByTimeAsync(0)

  client.abort()
  await vi.advanceTimersByTimeAsync(10_000)

  expect(reads).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})
