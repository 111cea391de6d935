import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { ReadStreamCommand, StreamPage } from '../../../../src/domain/model/stream.ts'
import { readStream } from '../../../../src/domain/stream/read-stream.ts'
import { aCall, rejection } from '../../call.ts'
import { endAt, items, live, pageOf, RUN_1, RUN_2, scriptedStream } from './stream-fixture.ts'

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

test('returns what is stored of an open run, without waiting for more', async () => {
  const pages = { [RUN_1]: [pageOf(items(0, 2)), pageOf(items(2, 1)), live(3)] }

  expect(await read({ pages, head: 3 }, { waitMs: 60_000 })).toEqual({
    ...EMPTY,
    items: items(0, 3),
    next: `2@${RUN_1}`,
  })
})

test('returns nothing when the wait is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const reading = read({ pages: { [RUN_1]: [live(4)] }, head: 4 }, { from: 4, waitMs: 30_000 })

  await vi.advanceTimersByTimeAsync(29_999)
  const early = await Promise.race([reading, 'pending'])
  await vi.advanceTimersByTimeAsync(1)

  expect(early).toBe('pending')
  expect(await reading).toEqual({ ...EMPTY, next: `3@${RUN_1}` })
})

test('the first items that come end the wait', async () => {
  const pages = { [RUN_1]: [live(0), pageOf(items(0, 1)), pageOf(items(1, 1))] }

  expect(await read({ pages, head: 0 }, { waitMs: 60_000 })).toMatchObject({ items: items(0, 1), next: `0@${RUN_1}` })
})

test('without a wait, items that were published before the request are returned all the same', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const polled = Promise.withResolvers<StreamPage>()
  const reading = read({ pages: { [RUN_1]: [live(0), polled.promise] }, head: 1 })
  // As long as a worker may take to respond.
  await vi.advanceTimersByTimeAsync(7999)
  polled.resolve(pageOf(items(0, 1)))

  expect(await reading).toMatchObject({ items: items(0, 1) })
})

test('the wait begins when everything that was published before the request was read, also of other topics', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const pages = { [RUN_1]: [live(0), pageOf(items(0, 2, 'other'))] }
  const command = { topics: ['tokens'] }

  const passing = read({ pages, head: 2 }, command)
  await vi.advanceTimersByTimeAsync(0)
  expect(await passing).toEqual({ ...EMPTY, next: `1@${RUN_1}` })

  const waiting = read({ pages, head: 2 }, { ...command, waitMs: 20_000 })
  await vi.advanceTimersByTimeAsync(19_999)
  expect(await Promise.race([waiting, 'pending'])).toBe('pending')
  await vi.advanceTimersByTimeAsync(1)
  expect(await waiting).toEqual({ ...EMPTY, next: `1@${RUN_1}` })
})

test('a client that reads past items of other topics for long continues where it was', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const reading = read({ pages: { [RUN_1]: [pageOf(items(0, 5, 'other'))] } }, { topics: ['tokens'] })

  await vi.advanceTimersByTimeAsync(8000)

  expect(await reading).toEqual({ ...EMPTY, next: `4@${RUN_1}` })
})

test('now: the position to continue from is where the stream is now, although nothing came', async () => {
  expect(await read({ pages: { [RUN_1]: [live(7)] }, head: 7 }, { from: 'now' })).toEqual({
    ...EMPTY,
    next: `6@${RUN_1}`,
  })
})

test('returns at most so many items, and continues after the last of them', async () => {
  const pages = { [RUN_1]: [pageOf(items(0, 5)), live(5)] }

  expect(await read({ pages }, { maxItems: 2 })).toMatchObject({ items: items(0, 2), next: `1@${RUN_1}` })
  expect(await read({ pages }, { maxItems: 5 })).toMatchObject({ items: items(0, 5), next: `4@${RUN_1}` })
})

test('ends before 1 MiB, but has at least one item', async () => {
  const large = (offset: number, size: number) => ({ offset, topic: 't', data: 'x'.repeat(size) })
  const small = [0, 1, 2, 3].map((offset) => large(offset, 300_000))
  const huge = [large(0, 1_500_000), large(1, 1)]

  const several = await read({ pages: { [RUN_1]: [pageOf(small), live(4)] } })
  const one = await read({ pages: { [RUN_1]: [pageOf(huge), live(2)] } })

  expect([several.items.length, several.next]).toEqual([3, `2@${RUN_1}`])
  expect([one.items.length, one.next]).toEqual([1, `0@${RUN_1}`])
})

test('moves past the items of other topics', async () => {
  const pages = { [RUN_1]: [pageOf([...items(0, 1, 'a'), ...items(1, 4, 'b')]), live(5)] }

  expect(await read({ pages, head: 5 }, { topics: ['a'] })).toMatchObject({
    items: items(0, 1, 'a'),
    next: `4@${RUN_1}`,
  })
})

test('says what is lost before its items; what is lost after them is said by the next response', async () => {
  const pages = {
    [RUN_1]: [
      pageOf(items(4, 1), { truncated: { from: 0, to: 4 } }),
      pageOf(items(9, 1), { truncated: { from: 5, to: 9 } }),
    ],
  }

  expect(await read({ pages })).toMatchObject({
    items: items(4, 1),
    truncated: { from: 0, to: 4 },
    next: `4@${RUN_1}`,
  })
})

test('items that are lost end the wait, because they say something', async () => {
  const pages = { [RUN_1]: [live(0), pageOf([], { next: 4, truncated: { from: 0, to: 4 } })] }

  expect(await read({ pages, head: 0 }, { waitMs: 60_000 })).toMatchObject({
    items: [],
    truncated: { from: 0, to: 4 },
    next: `3@${RUN_1}`,
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
    next: `1@${RUN_2}`,
    done: null,
  })
})

test('says how the run ended, and that no worker could confirm it', async () => {
  const pages = { [RUN_1]: [endAt(0, { status: 'terminated', complete: false })] }

  expect(await read({ pages })).toMatchObject({
    status: 'terminated',
    next: null,
    done: { status: 'terminated', complete: false },
  })
})

test('a run that cannot answer is an error, unless there are items', async () => {
  const paused = new ServiceError('WorkflowNotReadyError', 'paused', { details: { workflowStatus: 'paused' } })
  const obstacle = { items: [], next: 1, obstacle: paused }

  expect(await rejection(read({ pages: { [RUN_1]: [obstacle] } }))).toMatchObject({ error: 'WorkflowNotReadyError' })
  expect(await read({ pages: { [RUN_1]: [pageOf(items(0, 1)), obstacle] } })).toMatchObject({
    status: 'paused',
    items: items(0, 1),
    next: `0@${RUN_1}`,
  })
})

test('without a worker it is a 504 after 8 s, however long the client would wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const reading = rejection(read({}, { waitMs: 60_000 }))

  await vi.advanceTimersByTimeAsync(7999)
  const early = await Promise.race([reading, 'pending'])
  await vi.advanceTimersByTimeAsync(1)

  expect(early).toBe('pending')
  expect(await reading).toMatchObject({ error: 'DeadlineExceededError', workflowId: 'w', runId: RUN_1 })
})

test('at shutdown the response has what there is', async () => {
  const service = new AbortController()
  const reading = read({}, { waitMs: 60_000 }, aCall({ signal: service.signal }))

  service.abort()

  expect(await reading).toMatchObject({ ...EMPTY, next: `-@${RUN_1}` })
})
