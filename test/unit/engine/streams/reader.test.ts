import { expect, test } from 'vitest'
import type { Chunk } from '../../../../src/engine/calls/stream/poll.ts'
import { createReader, type FeedState, type ReadFeed } from '../../../../src/engine/streams/reader.ts'
import { aCall } from '../../call.ts'

const LIVE: FeedState = { isLive: true, hasPollQuery: false, obstacle: null, end: null, failure: null }
const END = { status: 'completed', completedAt: null, next: null, complete: true } as const

const chunk: Chunk = { from: 0, items: [{ offset: 0, topic: 't', data: 1 }], next: 1, bytes: 1, isStored: true }

function feedOf(state: FeedState, parts: Partial<ReadFeed> = {}): ReadFeed {
  return {
    state: () => state,
    next: () => 1,
    chunkAt: async (offset) => (offset < 1 ? chunk : null),
    head: async () => 1,
    start: async () => 1,
    changed: () => Promise.reject(new Error('the reader waits')),
    ...parts,
  }
}

const over = () => ({ ...aCall(), deadlineAt: 0 })

test('stream reader: gets the items, then that it has all of them, or the end', async () => {
  const live = createReader(feedOf(LIVE), 0, () => {})
  const ended = createReader(feedOf({ ...LIVE, end: END }), 0, () => {})

  expect([await live.next(aCall()), await live.next(aCall())]).toEqual([
    { items: chunk.items, next: 1 },
    { items: [], next: 1, isLive: true },
  ])
  expect([await ended.next(aCall()), await ended.next(aCall())]).toEqual([
    { items: chunk.items, next: 1 },
    { items: [], next: 1, end: END },
  ])
})

test('stream reader: the end is not reported before items that could not be read in time', async () => {
  const reader = createReader(feedOf({ ...LIVE, end: END }, { chunkAt: async () => null }), 0, () => {})

  expect(await reader.next(over())).toBeNull()
})

test('stream reader: begins with now where a live feed is, without a query', async () => {
  const start = () => Promise.reject(new Error('a query'))
  const reader = createReader(feedOf({ ...LIVE }, { start }), 'now', () => {})

  expect(await reader.next(aCall())).toEqual({ items: [], next: 1, isLive: true })
})

test('stream reader: begins with now where the workflow is, once the feed is live', async () => {
  let state: FeedState = { ...LIVE, isLive: false }
  const feed = feedOf(state, {
    state: () => state,
    next: () => 5,
    start: async () => 7,
    changed: async () => {
      state = LIVE
    },
  })

  expect(await createReader(feed, 'now', () => {}).next(aCall())).toEqual({ items: [], next: 7, isLive: true })
})

test('stream reader: the same obstacle is reported once, and a failure after the items', async () => {
  const obstacle = new Error('busy') as never
  const failure = { error: new Error('no stream') }
  const reader = createReader(feedOf({ ...LIVE, isLive: false, obstacle }), 1, () => {})
  expect(await reader.next(aCall())).toEqual({ items: [], next: 1, obstacle })
  await expect(reader.next(aCall())).rejects.toThrow('the reader waits')

  const failed = createReader(feedOf({ ...LIVE, isLive: false, failure }), 0, () => {})
  expect(await failed.next(aCall())).toMatchObject({ items: chunk.items })
  await expect(failed.next(aCall())).rejects.toThrow('no stream')
})

test('stream reader: gets an obstacle and a failure, although it waits for a worker to begin with now', async () => {
  const obstacle = new Error('busy') as never
  let state: FeedState = { ...LIVE, isLive: false }
  const feed = feedOf(state, {
    state: () => state,
    start: async () => null,
    changed: async () => {
      if (!state.isLive) state = LIVE
      else if (state.obstacle === null) state = { ...LIVE, obstacle }
      else state = { ...state, failure: { error: new Error('poisoned') } }
    },
  })
  const reader = createReader(feed, 'now', () => {})

  expect(await reader.next(aCall())).toEqual({ items: [], next: 0, obstacle })
  await expect(reader.next(aCall())).rejects.toThrow('poisoned')
})
