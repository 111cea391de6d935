import { expect, test } from 'vitest'
import type { Chunk } from '../../../../../src/service/engine/calls/stream/poll.ts'
import { createBuffers } from '../../../../../src/service/engine/streams/buffer.ts'

const chunk = (from: number, next: number, bytes = 10, isStored = true): Chunk => ({
  from,
  next,
  bytes,
  isStored,
  items: Array.from({ length: next - from }, (_, at) => ({ offset: from + at, topic: 't', data: from + at })),
})

// Each chunk counts twice: as values and as text.
const LIMITS = { maxBytes: 40, maxTotalBytes: 1000 }

/** Buffers that share their limits, and how many bytes they have. */
function makeBuffers(limits = LIMITS) {
  const all = { total: 0 }
  const create = createBuffers({ ...limits, onBytes: (change) => (all.total += change) })
  const bufferOf = (chunks: Chunk[], canReadAgain = (_: Chunk): boolean => true) => {
    const buffer = create(canReadAgain)
    for (const each of chunks) buffer.add(each)
    return buffer
  }
  return { all, bufferOf }
}

const place = (from: number, isStored = true) => ({ from, isStored })

test('stream buffer: finds the chunk of each offset', () => {
  const [first, second] = [chunk(0, 3), chunk(3, 4)]
  const buffer = makeBuffers().bufferOf([first, second])

  expect([0, 1, 2, 3].map((offset) => buffer.find(offset))).toEqual([first, first, first, second])
})

test('stream buffer: of chunks that it has dropped it knows the place', () => {
  const last = chunk(6, 8)
  const { all, bufferOf } = makeBuffers({ ...LIMITS, maxBytes: 20 })
  const buffer = bufferOf([chunk(0, 3), chunk(3, 6, 10, false), last])

  expect([0, 2, 3, 5, 6, 7].map((offset) => buffer.find(offset))).toEqual([
    place(0),
    place(0),
    place(3, false),
    place(3, false),
    last,
    last,
  ])
  expect(all.total).toBe(20)
})

test('stream buffer: the newest chunk stays, whatever its size', () => {
  const large = chunk(1, 2, 1000)
  const { all, bufferOf } = makeBuffers()
  const buffer = bufferOf([chunk(0, 1), large])

  expect([buffer.find(0), buffer.find(1), all.total]).toEqual([place(0), large, 2000])
})

test('stream buffer: keeps what cannot be read again, and what follows it', () => {
  const [tail, after] = [chunk(1, 2, 1000, false), chunk(2, 3)]
  const { all, bufferOf } = makeBuffers()
  const buffer = bufferOf([chunk(0, 1), tail, after], ({ isStored }) => isStored)

  expect([0, 1, 2].map((offset) => buffer.find(offset))).toEqual([place(0), tail, after])
  expect(all.total).toBe(2020)
})

test('stream buffer: all buffers together have a limit, and the one that has got nothing for longest gives way (threat 54)', () => {
  const { all, bufferOf } = makeBuffers({ maxBytes: 60, maxTotalBytes: 100 })
  const first = bufferOf([chunk(0, 1), chunk(1, 2)])
  const second = bufferOf([chunk(0, 1), chunk(1, 2)])
  first.add(chunk(2, 3))
  const third = bufferOf([chunk(0, 1)])

  expect([0, 1].map((offset) => second.find(offset))).toEqual([place(0), chunk(1, 2)])
  expect([0, 1, 2].map((offset) => first.find(offset))).toEqual([chunk(0, 1), chunk(1, 2), chunk(2, 3)])
  expect([third.find(0), all.total]).toEqual([chunk(0, 1), 100])
})

test('stream buffer: an empty chunk and one without bytes are found as well', () => {
  const truncated: Chunk = { ...chunk(0, 0), next: 5 }
  const buffer = makeBuffers().bufferOf([truncated, chunk(5, 6, 0)])

  expect([buffer.find(0), buffer.find(4), buffer.find(5)]).toEqual([truncated, truncated, chunk(5, 6, 0)])
})

test('stream buffer: gives all bytes back when it is cleared, also twice', () => {
  const { all, bufferOf } = makeBuffers()
  const buffer = bufferOf([chunk(0, 1), chunk(1, 2, 5)])

  buffer.clear()
  buffer.clear()

  expect(all.total).toBe(0)
  expect(buffer.find(1)).toEqual(place(1))
})
