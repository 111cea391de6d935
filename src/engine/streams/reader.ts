import type { Call } from '../../domain/model/call.ts'
import type { ServiceError } from '../../domain/model/errors.ts'
import type { RunEnd, StreamPage, StreamReader } from '../../domain/model/stream.ts'
import { isOver } from '../calls/poll-until.ts'
import type { Chunk } from '../calls/stream/poll.ts'

/** A feed, as its readers see it. */
export interface ReadFeed {
  state(): FeedState
  /** The offset after its last item. */
  next(): number
  /** The chunk with this offset; null if the feed has not reached it. */
  chunkAt(offset: number, call: Call): Promise<Chunk | null>
  /** The offset after the last item of the workflow. */
  head(call: Call): Promise<number>
  /** The same for a reader that begins there: null if the feed changes, or `call` is over, before a worker responds. */
  start(call: Call): Promise<number | null>
  /** Resolves when the feed has changed since `state` was read, or when `call` is over. */
  changed(since: FeedState, call: Call): Promise<void>
}

/** Replaced with each change. */
export interface FeedState {
  isLive: boolean
  /** Whether the workflow can be queried for its items. */
  hasPollQuery: boolean
  obstacle: ServiceError | null
  end: RunEnd | null
  /** Why nothing more can be read. */
  failure: { error: unknown } | null
}

/** A reader with a position of its own. */
export function createReader(feed: ReadFeed, from: number | 'now', close: () => void): StreamReader {
  // A live feed has everything that was published so far, except since its last poll.
  let position = from !== 'now' ? from : feed.state().isLive ? feed.next() : null
  let isLiveReported = false
  let reportedObstacle: ServiceError | null = null

  /** Items of the feed, also after it has ended or failed. */
  async function itemsAt(offset: number, call: Call): Promise<StreamPage | null> {
    const chunk = await feed.chunkAt(offset, call)
    return chunk && toPage(chunk, offset)
  }

  /** What the feed reports besides items: that it is live, its end or an obstacle. Null if the reader must wait. */
  function news({ isLive, obstacle, end, failure }: FeedState, next: number): StreamPage | null {
    if (isLive && !isLiveReported && end === null) {
      isLiveReported = true
      return { items: [], next, isLive: true }
    }
    if (failure !== null) throw failure.error
    if (end !== null) return { items: [], next: feed.next(), end }
    if (reportedObstacle === obstacle) return null
    reportedObstacle = obstacle
    return obstacle && { items: [], next, obstacle }
  }

  /** The reader's position. Null while a reader that begins `now` must wait for a worker to report the offset. */
  async function place({ end, isLive, failure }: FeedState, call: Call): Promise<number | null> {
    if (position !== null) return position
    if (end !== null) position = feed.next()
    else if (isLive && failure === null) position = await feed.start(call)
    return position
  }

  async function now(state: FeedState, call: Call): Promise<StreamPage | null> {
    const at = await place(state, call)
    // A reader without a position does not report yet that it is live.
    if (at === null) return news({ ...state, isLive: false }, 0)
    const items = await itemsAt(at, call)
    // These items come first: if they could not be read before the call ended, the reader returns nothing else.
    if (items === null) return at < feed.next() ? null : news(state, at)
    position = items.next
    return items
  }

  return {
    async next(call) {
      while (true) {
        const state = feed.state()
        const page = await now(state, call)
        if (page !== null || isOver(call)) return page
        await feed.changed(state, call)
      }
    },
    head: feed.head,
    close,
  }
}

/** The part of the chunk that begins at the offset. */
function toPage({ items, next }: Chunk, offset: number): StreamPage {
  const first = items[0]?.offset ?? next
  if (first > offset) return { items, next, truncated: { from: offset, to: first } }
  return { items: first === offset ? items : items.filter((item) => item.offset >= offset), next }
}
