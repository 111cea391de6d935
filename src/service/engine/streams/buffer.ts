/** The last items of streams, for readers that keep up, and where earlier ones can be read again. */
import type { Chunk } from '../calls/stream/poll.ts'

export interface BufferLimits {
  /** Of one stream. */
  maxBytes: number
  /** Of all streams. The newest chunk of each stays, and what cannot be read again. */
  maxTotalBytes: number
  /** Called with each change of the bytes of all streams. */
  onBytes(change: number): void
}

export interface StreamBuffer {
  add(chunk: Chunk): void
  /** The chunk with this offset, or only its place if it is not in memory any more. */
  find(offset: number): Chunk | ChunkPlace
  clear(): void
}

export type ChunkPlace = Pick<Chunk, 'from' | 'isStored'>

/** `canReadAgain` says whether a chunk may be dropped. */
export type CreateBuffer = (canReadAgain: (chunk: Chunk) => boolean) => StreamBuffer

// A chunk is held as values and as the text that is sent.
const COPIES = 2

export function createBuffers({ maxBytes, maxTotalBytes, onBytes }: BufferLimits): CreateBuffer {
  // First the buffer that has received nothing for the longest time: its readers have what they need.
  const droppers = new Set<() => boolean>()
  let total = 0

  function dropUntilWithin(newest: () => boolean): void {
    droppers.delete(newest)
    droppers.add(newest)
    for (const drop of droppers) while (total > maxTotalBytes && drop());
  }

  return (canReadAgain) => {
    const places: ChunkPlace[] = []
    let chunks: Chunk[] = []
    let bytes = 0

    function count(change: number): void {
      bytes += change
      total += change
      onBytes(change)
    }

    /** Drops the oldest chunk. False if it must stay. */
    function dropOldest(): boolean {
      const [oldest] = chunks
      if (oldest === undefined || chunks.length === 1 || !canReadAgain(oldest)) return false
      count(-COPIES * oldest.bytes)
      chunks.shift()
      return true
    }

    return {
      add(chunk) {
        const { from, isStored } = chunk
        places.push({ from, isStored })
        chunks.push(chunk)
        count(COPIES * chunk.bytes)
        while (bytes > maxBytes && dropOldest());
        dropUntilWithin(dropOldest)
      },
      find(offset) {
        const at = Math.max(0, lastAt(places, offset))
        return chunks[at - (places.length - chunks.length)] ?? places[at] ?? { from: 0, isStored: true }
      },
      clear() {
        count(-bytes)
        chunks = []
        droppers.delete(dropOldest)
      },
    }
  }
}

/** The index of the last place that begins at the offset or before it. The places ascend. */
function lastAt(places: readonly ChunkPlace[], offset: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle]?.from ?? 0) > offset) high = middle
    else low = middle + 1
  }
  return low - 1
}
