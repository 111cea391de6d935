/** Readers of streams. All readers of one run share its feed, and read at their own pace. */

import { sleep, whenOver } from '../../../shared/lib/abort.ts'
import { sharesPromises } from '../../../shared/lib/single-flight.ts'
import { type Closing, isOpen } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { type Call, shareCalls } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../../model/errors.ts'
import { type ExecutionRef, toKey } from '../../model/execution.ts'
import type { StreamReader, StreamRun } from '../../model/stream.ts'
import { streamHead } from '../calls/stream/handlers.ts'
import { readAgain } from '../calls/stream/tail.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { isOver, type PollHolder, pollHolder, untilAnswered } from '../polls.ts'
import { type ChunkPlace, type CreateBuffer, createBuffers } from './buffer.ts'
import { follow } from './feed.ts'
import { type FeedView, firstState } from './feed-state.ts'
import { createReader, type ReadFeed } from './reader.ts'
import type { VerifyStream } from './verification.ts'

export interface FeedLimits {
  /** Limit on the memory of one stream; that of all together is 16 times as high. */
  maxBufferBytes: number
  /** How many updates the readers of one run may send to it. */
  maxUpdates: number
  /** Called with each change of a number that is a metric. */
  onCount?: ((name: StreamCount, change: number) => void) | undefined
}

export type StreamCount = 'readers' | 'feeds' | 'bytes'

interface FeedsOptions extends FeedLimits {
  context: EngineContext
  waitForEnd(run: RunRef, call: Call): Promise<Closing | null>
  verify: VerifyStream
}

/** Opens readers. Rejects while there are too many long polls, or too many of the caller. */
export type OpenStream = (run: RunRef & Pick<StreamRun, 'status'>, from: number | 'now', call: Call) => StreamReader

// How long a feed is kept without readers, because one may reconnect or another one may come. Also how long a failure
// is repeated.
const GRACE_MS = 5000

const STREAMS_IN_MEMORY = 16

const START_AGAIN_MS = 1000

// So many readers are woken before others may run. The promises of all that wake at the same time run in turns: with
// thousands of readers, each turn would touch more memory than the processor's caches hold, and other requests would
// wait for all of them.
const WOKEN_AT_ONCE = 100

export function createFeeds(options: FeedsOptions): OpenStream {
  const { context, maxBufferBytes, onCount = () => {} } = options
  const feeds = new Map<string, Feed>()
  const createBuffer = createBuffers({
    maxBytes: maxBufferBytes,
    maxTotalBytes: STREAMS_IN_MEMORY * maxBufferBytes,
    onBytes: (change) => onCount('bytes', change),
  })

  function create(run: RunRef, holder: PollHolder): Feed {
    if (!context.polls.hasFree(holder)) throw tooManyPolls(run)
    const key = toKey(run)
    const feed = createFeed(run, { ...options, holder }, createBuffer, () => {
      if (feeds.get(key) === feed) feeds.delete(key)
    })
    // Elsewhere each reader has a feed of its own.
    if (sharesPromises()) feeds.set(key, feed)
    onCount('feeds', 1)
    return feed
  }

  return ({ workflowId, runId, status }, from, call) => {
    const run = { workflowId, runId }
    const known = feeds.get(toKey(run))
    // A run that has been closed since its feed failed has the rest of its stream, and an end.
    const isOutdated = known === undefined || (known.hasFailed() && !isOpen(status))
    return (isOutdated ? create(run, pollHolder(call)) : known).open(from)
  }
}

function tooManyPolls(run: ExecutionRef): ServiceError {
  return new ServiceError('ResourceExhaustedError', 'This service has as many streams and waits as it may have.', {
    details: { ...executionIds(run), source: 'gateway', retryAfterSeconds: 1 },
  })
}

interface Feed {
  hasFailed(): boolean
  open(from: number | 'now'): StreamReader
}

function createFeed(
  run: RunRef,
  options: FeedsOptions & { holder: PollHolder },
  createBuffer: CreateBuffer,
  onOver: () => void,
): Feed {
  const { context, onCount = () => {} } = options
  const controller = new AbortController()
  const waiting = new Set<() => void>()
  let { view } = firstState(run, options.maxUpdates)
  let readers = 0
  let closing: ReturnType<typeof setTimeout> | undefined
  const buffer = createBuffer(({ isStored }) => isStored || view.hasPollQuery)
  const translate = (error: unknown) => toServiceError(error, { kind: 'read', details: executionIds(run) })

  function setView(changed: FeedView): void {
    view = changed
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
    setView({ ...view, failure: { error: translate(error) } })
    // Then the next reader gets a new feed, whether or not this one has readers.
    const ms = graceMs()
    if (ms > 0) setTimeout(onOver, ms)
    else onOver()
  }

  follow({ ...options, run, signal: controller.signal, add: buffer.add, onView: setView }).catch(fail)

  const readHead = shareCalls(TIMEOUT_MS.streamQuery, (_: 'head', call) => streamHead(context, run, call))
  // For readers that are slower than the others, or late.
  const readPlace = shareCalls(TIMEOUT_MS.streamQuery, (place: ChunkPlace, call) =>
    readAgain(context, run, place, call),
  )

  const readFeed: ReadFeed = {
    runId: run.runId,
    view: () => view,
    head: (call) => readHead('head', call),

    async chunkAt(offset, call) {
      const found = buffer.find(offset)
      return 'items' in found ? found : answered(call, (reading) => readPlace(found, reading))
    },

    async start(call) {
      const since = view
      while (view === since && !isOver(call)) {
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
      if (since !== view) return Promise.resolve()
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
    const isKept = view.failure === null || hasErrorName(view.failure.error, 'ResourceExhaustedError')
    return sharesPromises() && isKept ? GRACE_MS : 0
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
    hasFailed: () => view.failure !== null,
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
