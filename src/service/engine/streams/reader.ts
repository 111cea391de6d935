import type { Call } from '../../model/call.ts'
import type { ServiceError } from '../../model/errors.ts'
import type { RunStreamEvent, StreamReader } from '../../model/stream.ts'
import type { Chunk } from '../calls/stream/poll.ts'
import { isOver } from '../polls.ts'
import type { FeedView } from './feed-state.ts'

/** A feed, as its readers see it. */
export interface ReadFeed {
  runId: string
  view(): FeedView
  /** The chunk with this offset, which the feed has reached. Null if `call` is over before. */
  chunkAt(offset: number, call: Call): Promise<Chunk | null>
  /** The offset after the last item of the workflow. */
  head(call: Call): Promise<number>
  /** The same for a reader that begins there: null if the feed changes, or `call` is over, before a worker responds. */
  start(call: Call): Promise<number | null>
  /** Resolves when the feed has changed since `view` was read, or when `call` is over. */
  changed(since: FeedView, call: Call): Promise<void>
}

/** A reader with a position of its own. */
export function createReader(feed: ReadFeed, from: number | 'now', close: () => void): StreamReader {
  // Its obstacle may be gone. What it has since is reported before anything else but items.
  const initial = feed.view()
  // A live feed has everything that was published so far, except since its last poll.
  let position = from !== 'now' ? from : initial.isLive ? initial.next : null
  let isLiveReported = false
  let isAnswered = false
  let reportedObstacle: ServiceError | null = null

  async function head(call: Call): Promise<number> {
    const offset = await feed.head(call)
    isAnswered = true
    return offset
  }

  /** What the feed reports besides items: that it is live, its end or an obstacle. Null if the reader must wait. */
  function news({ isLive, obstacle, ending, end, failure, next }: FeedView, at: number): RunStreamEvent | null {
    const isNew = obstacle !== null && obstacle !== reportedObstacle && obstacle !== initial.obstacle
    if (isLive && !isLiveReported && ending === null && !(isNew && failure === null)) {
      isLiveReported = true
      return { type: 'live', runId: feed.runId, next: at, head }
    }
    if (failure !== null) throw failure.error
    if (end !== null) return { type: 'end', next, end }
    if (reportedObstacle === obstacle) return null
    reportedObstacle = obstacle
    return obstacle && { type: 'obstacle', error: obstacle }
  }

  /** The reader's position. Null while a reader that begins `now` must wait for a worker to report the offset. */
  async function place({ end, isLive, failure, next }: FeedView, call: Call): Promise<number | null> {
    if (position !== null) return position
    if (end !== null) position = next
    else if (isLive && failure === null) position = await feed.start(call)
    return position
  }

  async function now(view: FeedView, call: Call): Promise<RunStreamEvent | null> {
    const at = await place(view, call)
    // A reader without a position does not report yet that it is live.
    if (at === null) return news({ ...view, isLive: false }, 0)
    // Items come first, also after the feed has ended or failed.
    if (at >= view.next) return news(view, at)
    const chunk = await feed.chunkAt(at, call)
    return chunk && itemsOf(chunk, at)
  }

  /** The part of the chunk that begins at the offset, or what is lost before it. */
  function itemsOf({ items, next }: Chunk, offset: number): RunStreamEvent {
    const { runId } = feed
    const first = items[0]?.offset ?? next
    position = first > offset ? first : next
    if (first > offset) return { type: 'truncated', runId, from: offset, to: first }
    const rest = first === offset ? items : items.filter((item) => item.offset >= offset)
    return { type: 'items', runId, items: rest, next }
  }

  /** The end of a run of which no worker has said in time whether there are more items. */
  function withoutWorker({ ending, next }: FeedView): RunStreamEvent | null {
    const isBehind = (position ?? next) < next
    return ending === null || isBehind || isAnswered ? null : { type: 'end', next, end: ending }
  }

  return {
    async next(call) {
      while (true) {
        const view = feed.view()
        const page = await now(view, call)
        if (page !== null) return page
        if (isOver(call)) return call.signal.aborted ? null : withoutWorker(view)
        await feed.changed(view, call)
      }
    },
    close,
  }
}
