/** Readers of streams. All readers of one run share its feed, and read at their own pace. */
import { type Call, withTimeout } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { ServiceError } from '../../domain/model/errors.ts'
import { type ExecutionRef, toKey } from '../../domain/model/execution.ts'
import type { StreamReader } from '../../domain/model/stream.ts'
import { withinCall } from '../../domain/model/within-call.ts'
import { whenOver } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { pollUntil } from '../calls/poll-until.ts'
import { type StreamHandlers, streamHead } from '../calls/stream/handlers.ts'
import { readAgain } from '../calls/stream/tail.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { type BufferedBytes, createStreamBuffer } from './buffer.ts'
import { follow } from './feed.ts'
import { createReader, type FeedState, type ReadFeed } from './reader.ts'
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

// So many readers are woken before others may run. The promises of all that wake at the same time run in turns: with
// thousands of readers, each turn would touch more memory than the processor's caches hold, and other requests would
// wait for all of them.
const WOKEN_AT_ONCE = 100

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

function createFeed(run: RunRef, options: FeedsOptions, all: BufferedBytes, onOver: () => void): Feed {
  const { context, maxBufferBytes, sharesPending, onCount = () => {} } = options
  const limits = { maxBytes: maxBufferBytes, maxTotalBytes: STREAMS_IN_MEMORY * maxBufferBytes }
  const controller = new AbortController()
  const waiting = new Set<() => void>()
  let handlers: StreamHandlers = { hasPollQuery: false }
  let state: FeedState = { isLive: false, trouble: null, end: null, failure: null }
  let readers = 0
  let pendingHead: Promise<number> | null = null
  let closing: ReturnType<typeof setTimeout> | undefined
  const buffer = createStreamBuffer(limits, all, ({ isStored }) => isStored || handlers.hasPollQuery)

  const translate = (error: unknown) => toServiceError(error, { kind: 'read', details: executionIds(run) })

  function setState(change: Partial<FeedState>): void {
    state = { ...state, ...change }
    const woken = [...waiting]
    waiting.clear()
    wake(woken)
  }

  function wake(woken: readonly (() => void)[], at = 0): void {
    const end = at + WOKEN_AT_ONCE
    for (const resume of woken.slice(at, end)) resume()
    if (end < woken.length) setTimeout(wake, 0, woken, end)
  }

  /** Changes the buffer, and counts its bytes. */
  function buffering(change: () => void): void {
    const before = all.total
    change()
    onCount('bytes', all.total - before)
  }

  follow({
    ...options,
    run,
    signal: controller.signal,
    buffer: { ...buffer, add: (chunk) => buffering(() => buffer.add(chunk)) },
    onChange(change) {
      if ('handlers' in change) handlers = change.handlers ?? handlers
      const { handlers: _, ...changed } = { handlers: null, ...change }
      setState(changed)
    },
  }).catch((error: unknown) => {
    if (!controller.signal.aborted) setState({ failure: { error: translate(error) } })
  })

  const readFeed: ReadFeed = {
    state: () => state,
    next: buffer.next,

    async chunkAt(offset, call) {
      if (offset >= buffer.next()) return null
      const found = buffer.find(offset)
      if (typeof found !== 'number') return found
      // Alone: the reader is slower than the others, or late.
      const again = async (reading: Call) => ({ found: await readAgain(context, run, found, handlers, reading) })
      return pollUntil({ polls: null }, call, { poll: again, read: again }).catch((error) => {
        throw translate(error)
      })
    },

    head(call) {
      const bounded = withTimeout(call, TIMEOUT_MS.streamQuery)
      if (!sharesPending) return streamHead(context, run, bounded)
      pendingHead ??= streamHead(context, run, { ...bounded, signal: controller.signal }).finally(() => {
        pendingHead = null
      })
      return withinCall(pendingHead, call)
    },

    changed(since, call) {
      if (since !== state) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      const resume = () => {
        stop()
        resolve()
      }
      // An event stream has no deadline, and needs no timer.
      const stop = whenOver(call.deadlineAt, call.signal, () => {
        waiting.delete(resume)
        resolve()
      })
      waiting.add(resume)
      return promise
    },
  }

  function leave(): void {
    readers--
    onCount('readers', -1)
    if (readers > 0) return
    if (sharesPending && state.failure === null) closing = setTimeout(shut, GRACE_MS)
    else shut()
  }

  function shut(): void {
    controller.abort()
    buffering(buffer.clear)
    onCount('feeds', -1)
    onOver()
  }

  return {
    open(from) {
      clearTimeout(closing)
      readers++
      onCount('readers', 1)
      let isOpen = true
      return createReader(readFeed, from, () => {
        if (isOpen) leave()
        isOpen = false
      })
    },
  }
}
