/** Readers of streams. All readers of one run share its feed, and read at their own pace. */
import type { Call } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { hasErrorName, ServiceError } from '../../domain/model/errors.ts'
import { type ExecutionRef, toKey } from '../../domain/model/execution.ts'
import { shareCalls } from '../../domain/model/share-calls.ts'
import type { StreamReader } from '../../domain/model/stream.ts'
import { sleep, whenOver } from '../../lib/abort.ts'
import type { Closing } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { isOver, untilAnswered } from '../calls/poll-until.ts'
import { streamHead } from '../calls/stream/handlers.ts'
import { readAgain } from '../calls/stream/tail.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { type ChunkPlace, type CreateBuffer, createBuffers } from './buffer.ts'
import { follow } from './feed.ts'
import { createReader, type FeedState, type ReadFeed } from './reader.ts'
import type { VerifyStream } from './verification.ts'

export interface StreamOptions {
  /** Limit on the memory of one stream; that of all together is 16 times as high. */
  maxBufferBytes: number
  /** How many updates the readers of one run may send to it. */
  maxUpdates: number
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

// How long a feed is kept without readers: one may reconnect, or another one may come.
const GRACE_MS = 5000

const STREAMS_IN_MEMORY = 16

const START_AGAIN_MS = 1000

// So many readers are woken before others may run. The promises of all that wake at the same time run in turns: with
// thousands of readers, each turn would touch more memory than the processor's caches hold, and other requests would
// wait for all of them.
const WOKEN_AT_ONCE = 100

export function createFeeds(options: FeedsOptions): OpenStream {
  const { context, maxBufferBytes, sharesPending, onCount = () => {} } = options
  const feeds = new Map<string, Feed>()
  const createBuffer = createBuffers({
    maxBytes: maxBufferBytes,
    maxTotalBytes: STREAMS_IN_MEMORY * maxBufferBytes,
    onBytes: (change) => onCount('bytes', change),
  })

  function create(run: RunRef): Feed {
    if (!context.polls.hasFree()) throw tooManyPolls(run)
    const key = toKey(run)
    const feed = createFeed(run, options, createBuffer, () => {
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

function createFeed(run: RunRef, options: FeedsOptions, createBuffer: CreateBuffer, onOver: () => void): Feed {
  const { context, sharesPending, onCount = () => {} } = options
  const controller = new AbortController()
  const waiting = new Set<() => void>()
  let state: FeedState = { isLive: false, hasPollQuery: false, obstacle: null, end: null, failure: null }
  let readers = 0
  let closing: ReturnType<typeof setTimeout> | undefined
  const buffer = createBuffer(({ isStored }) => isStored || state.hasPollQuery)
  const translate = (error: unknown) => toServiceError(error, { kind: 'read', details: executionIds(run) })

  function setState(change: Partial<FeedState>): void {
    const isKnown = change.obstacle && change.obstacle.message === state.obstacle?.message
    state = { ...state, ...change, ...(isKnown && { obstacle: state.obstacle }) }
    const woken = [...waiting]
    waiting.clear()
    wake(woken)
  }

  function wake(woken: readonly (() => void)[], at = 0): void {
    const end = at + WOKEN_AT_ONCE
    for (const resume of woken.slice(at, end)) resume()
    if (end < woken.length) setTimeout(wake, 0, woken, end)
  }

  function fail(error: unknown): void {
    if (controller.signal.aborted) return
    setState({ failure: { error: translate(error) } })
    // The next reader gets a new feed.
    if (graceMs() === 0) onOver()
  }

  follow({ ...options, run, signal: controller.signal, buffer, onChange: setState }).catch(fail)

  const share = { sharesPending, timeoutMs: TIMEOUT_MS.streamQuery }
  const readHead = shareCalls(share, (_: 'head', call) => streamHead(context, run, call))
  // For readers that are slower than the others, or late.
  const readPlace = shareCalls(share, (place: ChunkPlace, call) => readAgain(context, run, place, call))

  const readFeed: ReadFeed = {
    state: () => state,
    next: buffer.next,
    head: (call) => readHead('head', call),

    async chunkAt(offset, call) {
      if (offset >= buffer.next()) return null
      const found = buffer.find(offset)
      return 'items' in found ? found : answered(call, (reading) => readPlace(found, reading))
    },

    async start(call) {
      const since = state
      while (state === since && !isOver(call)) {
        try {
          return await answered(call, (reading) => readHead('head', reading))
        } catch (error) {
          // The worker was there when the stream was verified, and may come back.
          if (!hasErrorName(error, 'DeadlineExceededError', 'WorkflowNotReadyError')) throw error
          await sleep(START_AGAIN_MS, call.signal)
        }
      }
      return null
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

  function answered<T>(call: Call, act: (call: Call) => Promise<T>): Promise<T | null> {
    return untilAnswered(call, act).catch((error) => {
      throw translate(error)
    })
  }

  /** How long the feed is kept without a reader. A failed feed is only kept if its failure will last. */
  function graceMs(): number {
    const isKept = state.failure === null || hasErrorName(state.failure.error, 'ResourceExhaustedError')
    return sharesPending && isKept ? GRACE_MS : 0
  }

  function leave(): void {
    readers--
    onCount('readers', -1)
    if (readers > 0) return
    const ms = graceMs()
    if (ms > 0) closing = setTimeout(shut, ms)
    else shut()
  }

  function shut(): void {
    controller.abort()
    buffer.clear()
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
