/** Readers of streams. All readers of one run share its feed, and read at their own pace. */
import { type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { ServiceError } from '../../domain/model/errors.ts'
import { type ExecutionRef, toKey } from '../../domain/model/execution.ts'
import type { RunEnd, StreamPage, StreamReader } from '../../domain/model/stream.ts'
import { withinCall } from '../../domain/model/within-call.ts'
import { whenOver } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { isOver, pollUntil } from '../calls/poll-until.ts'
import { type StreamHandlers, streamHead } from '../calls/stream/handlers.ts'
import type { Chunk } from '../calls/stream/poll.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { createStreamBuffer } from './buffer.ts'
import { follow, readAgain } from './feed.ts'
import type { VerifyStream } from './verification.ts'

export interface StreamOptions {
  /** Limit on the memory of one stream; that of all together is 16 times as high. */
  maxBufferBytes: number
  /** How many updates the readers of one run may send to it. */
  maxPolls: number
  /** Called with each change of a number that is a metric. */
  onCount?: ((name: StreamCount, change: number) => void) | undefined
}

export type StreamCount = 'readers' | 'feeds' | 'bytes'

interface FeedsOptions extends StreamOptions {
  context: EngineContext
  /** False where requests cannot await each other's calls (workerd): each reader has a feed of its own. */
  sharesPending: boolean
  waitForEnd(run: RunRef, call: Call): Promise<Closing | null>
  verify: VerifyStream
}

/** Opens readers. Rejects while there are too many long polls. */
export type OpenStream = (run: RunRef, from: number | 'now') => StreamReader

// A reader that reconnects, or another one, may come soon.
const GRACE_MS = 5000

const STREAMS_IN_MEMORY = 16

export function createFeeds(options: FeedsOptions): OpenStream {
  const { context, sharesPending, onCount = () => {} } = options
  const feeds = new Map<string, Feed>()
  const all = { total: 0 }

  function create(run: RunRef): Feed {
    if (!context.polls.hasFree()) throw tooManyPolls(run)
    const key = toKey(run)
    const feed = createFeed(run, options, all, () => {
      if (feeds.get(key) === feed) feeds.delete(key)
    })
    if (sharesPending) feeds.set(key, feed)
    onCount('feeds', 1)
    return feed
  }

  return ({ workflowId, runId }, from) => {
    const run = { workflowId, runId }
    return (feeds.get(toKey(run)) ?? create(run)).open(from)
  }
}

function tooManyPolls(run: ExecutionRef): ServiceError {
  return new ServiceError('ResourceExhaustedError', 'This service has as many streams and waits as it may have.', {
    details: { ...executionIds(run), source: 'gateway', retryAfterSeconds: 1 },
  })
}

interface Feed {
  open(from: number | 'now'): StreamReader
}

function createFeed(run: RunRef, options: FeedsOptions, all: { total: number }, onOver: () => void): Feed {
  const { context, maxBufferBytes, maxPolls, waitForEnd, verify, sharesPending, onCount = () => {} } = options
  const limits = { maxBytes: maxBufferBytes, maxTotalBytes: STREAMS_IN_MEMORY * maxBufferBytes }
  const controller = new AbortController()
  const waiting = new Set<() => void>()
  let handlers: StreamHandlers = { hasPollQuery: false }
  let isLive = false
  let trouble: ServiceError | null = null
  let end: RunEnd | null = null
  let failure: { error: unknown } | null = null
  let readers = 0
  let pendingHead: Promise<number> | null = null
  let closing: ReturnType<typeof setTimeout> | undefined
  const buffer = createStreamBuffer(limits, all, ({ isStored }) => isStored || handlers.hasPollQuery)

  function wake(): void {
    const woken = [...waiting]
    waiting.clear()
    for (const resume of woken) resume()
  }

  const counted = {
    ...buffer,
    add(chunk: Chunk) {
      const before = all.total
      buffer.add(chunk)
      onCount('bytes', all.total - before)
    },
  }

  follow({
    context,
    run,
    maxPolls,
    signal: controller.signal,
    waitForEnd,
    verify,
    buffer: counted,
    onChange(change) {
      if (change === 'items') trouble = null
      else if ('isLive' in change) {
        isLive = true
        handlers = change.handlers ?? handlers
      } else if ('trouble' in change) trouble = change.trouble
      else end = change.end
      wake()
    },
  }).catch((error: unknown) => {
    failure = { error: toServiceError(error, { kind: 'read', details: executionIds(run) }) }
    wake()
  })

  /** Resolves after the next change, or when `call` is over. */
  function changed(call: Call): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = whenOver(call.deadlineAt, call.signal, () => {
      waiting.delete(resume)
      resolve()
    })
    const resume = () => {
      stop()
      resolve()
    }
    waiting.add(resume)
    return promise
  }

  function head(call: Call): Promise<number> {
    const bounded = withTimeout(call, TIMEOUT_MS.streamQuery)
    if (!sharesPending) return streamHead(context, run, bounded)
    pendingHead ??= streamHead(context, run, { ...bounded, signal: controller.signal }).finally(() => {
      pendingHead = null
    })
    return withinCall(pendingHead, call)
  }

  async function chunkAt(offset: number, call: Call): Promise<Chunk | null> {
    if (offset >= buffer.next()) return null
    const found = buffer.find(offset)
    if (typeof found !== 'number') return found
    // Alone: the reader is slower than the others, or late.
    const again = async (reading: Call) => ({ found: await readAgain(context, run, found, handlers, reading) })
    return pollUntil({ polls: null }, call, { poll: again, read: again })
  }

  function leave(): void {
    readers--
    onCount('readers', -1)
    if (readers > 0) return
    if (sharesPending && failure === null) closing = setTimeout(shut, GRACE_MS)
    else shut()
  }

  function shut(): void {
    const before = all.total
    controller.abort()
    buffer.clear()
    onCount('bytes', all.total - before)
    onCount('feeds', -1)
    onOver()
  }

  function open(from: number | 'now'): StreamReader {
    clearTimeout(closing)
    readers++
    onCount('readers', 1)
    let position = from
    let toldLive = false
    let told: ServiceError | null = null
    let isOpen = true

    /** What the reader can have now; null if it must wait. */
    async function now(call: Call): Promise<StreamPage | null> {
      if (position === 'now' && (isLive || end !== null)) position = end === null ? await head(call) : buffer.next()
      const at = position === 'now' ? 0 : position
      const chunk = position === 'now' ? null : await chunkAt(at, call)
      if (chunk !== null) return toPage(chunk, at)
      if (isLive && !toldLive) {
        toldLive = true
        return { items: [], next: at, isLive: true }
      }
      if (failure !== null) throw failure.error
      if (end !== null) return { items: [], next: buffer.next(), end }
      if (told === trouble) return null
      told = trouble
      return trouble === null ? null : { items: [], next: at, trouble }
    }

    return {
      async next(call) {
        while (true) {
          const page = await now(call)
          if (page !== null && position !== 'now') position = page.next
          if (page !== null || isOver(call)) return page
          await changed(call)
        }
      },
      head,
      close() {
        if (isOpen) leave()
        isOpen = false
      },
    }
  }

  return { open }
}

/** The part of the chunk that begins at the offset. */
function toPage({ items, next }: Chunk, offset: number): StreamPage {
  const first = items[0]?.offset ?? next
  if (first > offset) return { items, next, truncated: { from: offset, to: first } }
  return { items: first === offset ? items : items.filter((item) => item.offset >= offset), next }
}
