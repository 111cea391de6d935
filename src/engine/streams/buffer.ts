/** The last items of a stream, for readers that keep up, and where the engine has stored the earlier ones. */
import type { Chunk } from '../calls/stream/poll.ts'

/** What all buffers hold together. */
export interface BufferedBytes {
  total: number
}

export interface BufferLimits {
  /** Of one stream. */
  maxBytes: number
  /** Of all streams. */
  maxTotalBytes: number
}

export interface StreamBuffer {
  /** The offset after the last chunk. */
  next(): number
  /** How many polls have returned the chunks so far. */
  polls(): number
  add(chunk: Chunk): void
  /** The chunk with this offset; if it is not in memory any more, the offset of the poll that returned it. */
  find(offset: number): Chunk | number
  clear(): void
}

// A chunk is held as values and as the text that is sent.
const COPIES = 2

/** `canReadAgain` says whether a chunk that was dropped can be read again. */
export function createStreamBuffer(
  limits: BufferLimits,
  all: BufferedBytes,
  canReadAgain: (chunk: Chunk) => boolean,
): StreamBuffer {
  const froms: number[] = []
  let chunks: Chunk[] = []
  let bytes = 0
  let next = 0
  let polls = 0

  function count(change: number): void {
    bytes += change * COPIES
    all.total += change * COPIES
  }

  function dropOldest(): void {
    while (bytes > limits.maxBytes || all.total > limits.maxTotalBytes) {
      const [oldest] = chunks
      if (oldest === undefined || !canReadAgain(oldest)) return
      count(-oldest.bytes)
      chunks.shift()
    }
  }

  return {
    next: () => next,
    polls: () => polls,
    add(chunk) {
      froms.push(chunk.from)
      chunks.push(chunk)
      if (chunk.isStored) polls++
      next = chunk.next
      count(chunk.bytes)
      dropOldest()
    },
    find(offset) {
      const at = upperBound(froms, offset) - 1
      return chunks[at - (froms.length - chunks.length)] ?? froms[at] ?? 0
    },
    clear() {
      count(-bytes / COPIES)
      chunks = []
    },
  }
}

/** The index of the first element that is greater. The elements ascend. */
function upperBound(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) > value) high = middle
    else low = middle + 1
  }
  return low
}
