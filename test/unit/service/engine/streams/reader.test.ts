import { expect, test } from 'vitest'
import type { Chunk } from '../../../../../src/service/engine/calls/stream/poll.ts'
import type { FeedView } from '../../../../../src/service/engine/streams/feed-state.ts'
import { createReader, type ReadFeed } from '../../../../../src/service/engine/streams/reader.ts'
import { aCall } from '../../../call.ts'

const LIVE: FeedView = {
  next: 1,
  isLive: true,
  hasPollQuery: false,
  obstacle: null,
  ending: null,
  end: null,
  failure: null,
}
const END = { status: 'completed', completedAt: null, next: null, complete: true } as const

const chunk: Chunk = { from: 0, items: [{ offset: 0, topic: 't', data: 1 }], next: 1, bytes: 1, isStored: true }

const LIVE_AT_1 = { type: 'live', runId: 'r', next: 1, head: expect.any(Function) }

function feedOf(view: FeedView, parts: Partial<ReadFeed> = {}): ReadFeed {
  return {
    runId: 'r',
    view: () => view,
    chunkAt: async () => chunk,
    head: async () => 1,
    start: async () => 1,
    changed: () => Promise.reject(new Error('the reader waits')),
    ...parts,
  }
}

const over = () => ({ ...aCall(), deadlineAt: 0 })

test('stream reader: the end is not reported before items that could not be read in time', async () => {
  const reader = createReader(feedOf({ ...LIVE, end: END }, { chunkAt: async () => null }), 0, () => {})

  expect(await reader.next(over())).toBeNull()
})

test('stream reader: at its deadline gets the end of a closed run that no worker has confirmed, after the items', async () => {
  const ending = { ...END, complete: false }
  const closed: FeedView = { ...LIVE, isLive: false, ending }
  const read = (view: FeedView, from: number | 'now', call = over()) =>
    createReader(feedOf(view, { chunkAt: async () => null, changed: async () => {} }), from, () => {}).next(call)

  expect(await read(closed, 1)).toEqual({ type: 'end', next: 1, end: ending })
  expect(await read(closed, 'now')).toEqual({ type: 'end', next: 1, end: ending })
  expect(await read({ ...closed, isLive: true }, 1)).toEqual({ type: 'end', next: 1, end: ending })
  expect(await read(closed, 0)).toBeNull()
  expect(await read({ ...closed, ending: null }, 1)).toBeNull()
  expect(await read(closed, 1, aCall({ signal: AbortSignal.abort() }))).toBeNull()
})

test('stream reader: after a worker has answered, the end waits for the workers', async () => {
  const ending = { ...END, complete: false }
  let view = LIVE
  const reader = createReader(feedOf(view, { view: () => view }), 1, () => {})
  const live = await reader.next(aCall())
  view = { ...LIVE, ending }
  const unanswered = await reader.next(over())

  if (live?.type === 'live') await live.head(aCall())
  expect(unanswered).toEqual({ type: 'end', next: 1, end: ending })
  expect(await reader.next(over())).toBeNull()
})

test('stream reader: the same obstacle is reported once, and a failure after the items', async () => {
  const obstacle = new Error('busy') as never
  const failure = { error: new Error('no stream') }
  const reader = createReader(feedOf({ ...LIVE, isLive: false, obstacle }), 1, () => {})
  expect(await reader.next(aCall())).toEqual({ type: 'obstacle', error: obstacle })
  await expect(reader.next(aCall())).rejects.toThrow('the reader waits')

  const failed = createReader(feedOf({ ...LIVE, isLive: false, failure }), 0, () => {})
  expect(await failed.next(aCall())).toMatchObject({ items: chunk.items })
  await expect(failed.next(aCall())).rejects.toThrow('no stream')
})

test('stream reader: an obstacle comes before the news that the feed is live, unless it was there before', async () => {
  const obstacle = new Error('busy') as never
  const known: FeedView = { ...LIVE, obstacle }
  let view: FeedView = { ...LIVE, isLive: false }
  const changed = async () => {
    view = known
  }
  const read = async (feed: ReadFeed) => {
    const reader = createReader(feed, 1, () => {})
    return [await reader.next(aCall()), await reader.next(aCall())]
  }
  const [live, busy] = [LIVE_AT_1, { type: 'obstacle', error: obstacle }]

  expect(await read(feedOf(view, { view: () => view, changed }))).toEqual([busy, live])
  expect(await read(feedOf(known))).toEqual([live, busy])
})

test('stream reader: gets an obstacle and a failure, although it waits for a worker to begin with now', async () => {
  const obstacle = new Error('busy') as never
  let view: FeedView = { ...LIVE, isLive: false }
  const feed = feedOf(view, {
    view: () => view,
    start: async () => null,
    changed: async () => {
      if (!view.isLive) view = LIVE
      else if (view.obstacle === null) view = { ...LIVE, obstacle }
      else view = { ...view, failure: { error: new Error('poisoned') } }
    },
  })
  const reader = createReader(feed, 'now', () => {})

  expect(await reader.next(aCall())).toEqual({ type: 'obstacle', error: obstacle })
  await expect(reader.next(aCall())).rejects.toThrow('poisoned')
})
