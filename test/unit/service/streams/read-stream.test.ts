import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { ReadStreamCommand, RunStreamEvent } from '../../../../src/service/model/stream.ts'
import { readStream } from '../../../../src/service/streams/read-stream.ts'
import { aCall, rejection } from '../../call.ts'
import { endAt, items, live, lost, pageOf, RUN_1, RUN_2, scriptedStream } from './stream-fixture.ts'

afterEach(() => void vi.useRealTimers())

const COMMAND: ReadStreamCommand = {
  ref: { workflowId: 'w' },
  from: 0,
  topics: [],
  followsChain: true,
  waitMs: 0,
  maxItems: 1000,
}
const EMPTY = { workflowId: 'w', runId: RUN_1, status: 'running', items: [], truncated: null, done: null }
const CONTINUED = { status: 'continued', next: { runId: RUN_2, from: 2, isReset: false } } as const

function read(script: Parameters<typeof scriptedStream>[0], command: Partial<ReadStreamCommand> = {}, call = aCall()) {
  return readStream(scriptedStream(script).ports, { ...COMMAND, ...command }, call)
}

test('without a wait, items that were published before the request are returned all the same', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const polled = Promise.withResolvers<RunStreamEvent>()
  const reading = read({ pages: { [RUN_1]: [live(0), polled.promise] }, head: 1 })
  // As long as a worker may take to respond.
  await vi.advanceTimersByTimeAsync(7999)
  polled.resolve(pageOf(items(0, 1)))

  expect(await reading).toMatchObject({ items: items(0, 1) })
})

test('the wait begins when everything that was published before the request was read, also of other topics', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const pages = { [RUN_1]: [live(0), pageOf(items(0, 2, 'other'))] }
  const command = { topics: ['tokens'] }

  const passing = read({ pages, head: 2 }, command)
  await vi.advanceTimersByTimeAsync(0)
  expect(await passing).toEqual({ ...EMPTY, next: `${RUN_1}@1` })

  const waiting = read({ pages, head: 2 }, { ...command, waitMs: 20_000 })
  await vi.advanceTimersByTimeAsync(19_999)
  expect(await Promise.race([waiting, 'pending'])).toBe('pending')
  await vi.advanceTimersByTimeAsync(1)
  expect(await waiting).toEqual({ ...EMPTY, next: `${RUN_1}@1` })
})

test('a client that reads past items of other topics for long continues where it was', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const reading = read({ pages: { [RUN_1]: [pageOf(items(0, 5, 'other'))] } }, { topics: ['tokens'] })

  await vi.advanceTimersByTimeAsync(8000)

  expect(await reading).toEqual({ ...EMPTY, next: `${RUN_1}@4` })
})

test('now: the position to continue from is where the stream is now, although nothing came', async () => {
  expect(await read({ pages: { [RUN_1]: [live(7)] }, head: 7 }, { from: 'now' })).toEqual({
    ...EMPTY,
    next: `${RUN_1}@6`,
  })
})

test('ends before 1 MiB, but has at least one item', async () => {
  const large = (offset: number, size: number) => ({ offset, topic: 't', data: 'x'.repeat(size) })
  const small = [0, 1, 2, 3].map((offset) => large(offset, 300_000))
  const huge = [large(0, 1_500_000), large(1, 1)]

  const several = await read({ pages: { [RUN_1]: [pageOf(small), live(4)] } })
  const one = await read({ pages: { [RUN_1]: [pageOf(huge), live(2)] } })

  expect([several.items.length, several.next]).toEqual([3, `${RUN_1}@2`])
  expect([one.items.length, one.next]).toEqual([1, `${RUN_1}@0`])
})

test('says what is lost before its items; what is lost after them is said by the next response', async () => {
  const pages = {
    [RUN_1]: [lost(0, 4), pageOf(items(4, 1)), lost(5, 9), pageOf(items(9, 1))],
  }

  expect(await read({ pages })).toMatchObject({
    items: items(4, 1),
    truncated: { from: 0, to: 4 },
    next: `${RUN_1}@4`,
  })
})

test.each([
  ['before the stream is live', [lost(0, 4), live(4)]],
  ['after it is live', [live(0), lost(0, 4)]],
])('what is lost %s is returned with the items that are left', async (_, pages) => {
  const script = { pages: { [RUN_1]: [...pages, pageOf(items(4, 2))] }, head: 6 }

  expect(await read(script)).toMatchObject({
    items: items(4, 2),
    truncated: { from: 0, to: 4 },
    next: `${RUN_1}@5`,
  })
})

test('items that are lost end the wait, because they say something', async () => {
  const pages = { [RUN_1]: [live(0), lost(0, 4)] }

  expect(await read({ pages, head: 0 }, { waitMs: 60_000 })).toMatchObject({
    items: [],
    truncated: { from: 0, to: 4 },
    next: `${RUN_1}@3`,
  })
})

test('across runs of a chain, an item of an earlier run than that of the response names its run', async () => {
  const pages = {
    [RUN_1]: [pageOf(items(0, 2)), endAt(2, CONTINUED)],
    [RUN_2]: [pageOf(items(2, 1)), endAt(3)],
  }

  expect(await read({ pages, latest: { status: 'continued' } })).toEqual({
    workflowId: 'w',
    runId: RUN_2,
    status: 'completed',
    items: [...items(0, 2).map((item) => ({ ...item, runId: RUN_1 })), ...items(2, 1)],
    next: null,
    truncated: null,
    done: { status: 'completed', completedAt: new Date(0), complete: true },
  })
})

test('an earlier run that has continued leads to the next one, which is open', async () => {
  const pages = { [RUN_1]: [endAt(2, CONTINUED)], [RUN_2]: [live(2)] }

  expect(await read({ pages, latest: { status: 'continued' }, head: 2 }, { from: 2 })).toMatchObject({
    runId: RUN_2,
    status: 'running',
    next: `${RUN_2}@1`,
    done: null,
  })
})

test('a run that cannot answer is an error, unless there are items', async () => {
  const paused = new ServiceError('WorkflowNotReadyError', 'paused', { details: { workflowStatus: 'paused' } })
  const obstacle = { type: 'obstacle', error: paused } as const

  expect(await rejection(read({ pages: { [RUN_1]: [obstacle] } }))).toMatchObject({ error: 'WorkflowNotReadyError' })
  expect(await read({ pages: { [RUN_1]: [pageOf(items(0, 1)), obstacle] } })).toMatchObject({
    status: 'paused',
    items: items(0, 1),
    next: `${RUN_1}@0`,
  })
})

test('without a worker it is a 504 after 8 s, however long the client would wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const reading = rejection(read({}, { waitMs: 60_000 }))

  await vi.advanceTimersByTimeAsync(7999)
  const early = await Promise.race([reading, 'pending'])
  await vi.advanceTimersByTimeAsync(1)

  expect(early).toBe('pending')
  expect(await reading).toMatchObject({ error: 'DeadlineExceededError', workflowId: 'w', runId: RUN_1 })
})

test('without a worker a closed run has its end when the 8 s are over, and its chain continues', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const last = read({ atDeadline: endAt(0, { complete: false }) }, { waitMs: 60_000 })
  const chained = read({ pages: { [RUN_2]: [] }, atDeadline: endAt(2, CONTINUED) })

  await vi.advanceTimersByTimeAsync(8001)

  expect(await last).toMatchObject({ next: null, done: { status: 'completed', complete: false } })
  expect(await chained).toMatchObject({ runId: RUN_2, items: [], next: `${RUN_2}@1`, done: null })
})

test('a closed run whose stream was live has its end too, although no worker says where the stream is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const script = {
    pages: { [RUN_1]: [live(0)] },
    head: new ServiceError('DeadlineExceededError', 'no worker'),
    atDeadline: endAt(0, { complete: false }),
  }
  const closed = read({ ...script, latest: { status: 'failed' } })
  const open = rejection(read(script))

  await vi.advanceTimersByTimeAsync(8001)

  expect(await closed).toMatchObject({ next: null, done: { complete: false } })
  expect(await open).toMatchObject({ error: 'DeadlineExceededError' })
})

test('at shutdown the response has what there is', async () => {
  const service = new AbortController()
  const reading = read({}, { waitMs: 60_000 }, aCall({ signal: service.signal }))

  service.abort()

  expect(await reading).toMatchObject({ ...EMPTY, next: `${RUN_1}` })
})
