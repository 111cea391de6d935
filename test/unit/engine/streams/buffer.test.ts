import { expect, test } from 'vitest'
import type { Chunk } from '../../../../src/engine/calls/stream/poll.ts'
import { createStreamBuffer } from '../../../../src/engine/streams/buffer.ts'

const chunk = (from: number, next: number, bytes = 10, isStored = true): Chunk => ({
  from,
  next,
  bytes,
  isStored,
  items: Array.from({ length: next - from }, (_, at) => ({ offset: from + at, topic: 't', data: from + at })),
})

// Each chunk counts twice: as values and as text.
const LIMITS = { maxBytes: 40, maxTotalBytes: 1000 }

function bufferOf(
  chunks: Chunk[],
  { limits = LIMITS, all = { total: 0 }, canReadAgain = (_: Chunk): boolean => true } = {},
) {
  const buffer = createStreamBuffer(limits, all, canReadAgain)
  for (const each of chunks) buffer.add(each)
  return { buffer, all }
}

test('stream buffer: finds the chunk of each offset', () => {
  const [first, second] = [chunk(0, 3), chunk(3, 4)]
  const { buffer } = bufferOf([first, second])

  expect([0, 1, 2, 3].map((offset) => buffer.find(offset))).toEqual([first, first, first, second])
  expect([buffer.next(), buffer.polls()]).toEqual([4, 2])
})

test('stream buffer: of chunks that it has dropped it knows the poll that returned them', () => {
  const last = chunk(6, 8)
  const { buffer, all } = bufferOf([chunk(0, 3), chunk(3, 6), last], { limits: { ...LIMITS, maxBytes: 20 } })

  expect([0, 2, 3, 5, 6, 7].map((offset) => buffer.find(offset))).toEqual([0, 0, 3, 3, last, last])
  expect(all.total).toBe(20)
})

test('stream buffer: a chunk above the limit is dropped at once, and the offsets go on', () => {
  const { buffer, all } = bufferOf([chunk(0, 1, 1000)])

  expect([buffer.find(0), buffer.next(), all.total]).toEqual([0, 1, 0])
})

test('stream buffer: keeps what cannot be read again, and what follows it', () => {
  const [tail, after] = [chunk(1, 2, 1000, false), chunk(2, 3)]
  const { buffer, all } = bufferOf([chunk(0, 1), tail, after], { canReadAgain: ({ isStored }) => isStored })

  expect([0, 1, 2].map((offset) => buffer.find(offset))).toEqual([0, tail, after])
  expect([buffer.polls(), all.total]).toEqual([2, 2020])
})

test('stream buffer: all buffers together have a limit, and each gives way only with its own chunks', () => {
  const all = { total: 0 }
  const limits = { maxBytes: 40, maxTotalBytes: 50 }
  const { buffer: first } = bufferOf([chunk(0, 1), chunk(1, 2)], { limits, all })
  const { buffer: second } = bufferOf([chunk(0, 1), chunk(1, 2)], { limits, all })

  expect([first.find(0), first.find(1)]).toEqual([chunk(0, 1), chunk(1, 2)])
  expect([second.find(0), second.find(1)]).toEqual([0, 1])
  expect(all.total).toBe(40)
})

test('stream buffer: an empty chunk and one without bytes are found as well', () => {
  const truncated: Chunk = { ...chunk(0, 0), next: 5 }
  const { buffer } = bufferOf([truncated, chunk(5, 6, 0)])

  expect([buffer.find(0), buffer.find(4), buffer.find(5)]).toEqual([truncated, truncated, chunk(5, 6, 0)])
})

test('stream buffer: gives all bytes back when it is cleared, also twice', () => {
  const { buffer, all } = bufferOf([chunk(0, 1), chunk(1, 2, 5)])

  buffer.clear()
  buffer.clear()

  expect(all.total).toBe(0)
  expect(buffer.find(1)).toBe(1)
})
