import { mapConcurrent } from '../../shared/lib/map-concurrent.ts'
import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import type { Warn } from './rate-limited-warnings.ts'
import { type Redact, toRedacted, type ValueLimits } from './redact.ts'
import type { SpanRun } from './span.ts'

export interface SpanBufferOptions {
  /** Appends entries, each as a JSON string, to the run's list. Called again with the same entries after a failure. */
  send(run: SpanRun, entries: readonly string[]): Promise<void>
  /** Encodes the values with the worker's payload codecs; null if there are none. */
  encode: ((entries: readonly TraceEntry[]) => Promise<TraceEntry[]>) | null
  redact: Redact
  /** The task queue whose own `redact` it is; null if the worker has none. */
  redactedBy?: string | null
  warn: Warn
  /** Maximum size of all unsent entries. Above it the oldest are dropped. */
  maxBytes?: number
}

export interface SpanBuffer {
  /** Never throws and never waits. */
  add(run: SpanRun, entry: TraceEntry): void
  /** Tries once to send all entries. Resolves with the number that could not be sent. */
  flush(): Promise<number>
}

interface Buffered {
  run: SpanRun
  /** Null once it is sent or dropped: then a batch that still contains it needs no memory for it. */
  entry: TraceEntry | null
  bytes: number
  /** How often it could not be sent. */
  failures: number
  isSending: boolean
}

const LIMITS: ValueLimits = { maxBytes: 64 * 1024, maxDepth: 100 }
const MAX_BYTES = 16 * 1024 * 1024

// A process that is killed loses the spans of this period, plus those being sent.
const FLUSH_MS = 250

const RETRY_AFTER_MS = 2000

// Upstash's smallest plan accepts requests of 1 MB, and escaping doubles each quote of a JSON string.
const MAX_BATCH_BYTES = 512 * 1024
const MAX_BATCH = 200

const CONCURRENT_REQUESTS = 8

/** Buffers spans and sends them within 250 ms. Keeps and retries them while the store is unreachable. */
export function createSpanBuffer(options: SpanBufferOptions): SpanBuffer {
  const { send, encode, redact, redactedBy = null, warn, maxBytes = MAX_BYTES } = options
  // From the oldest to the newest.
  const unsent = new Set<Buffered>()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  function flushIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, ms).unref()
  }

  function remove(one: Buffered): void {
    unsent.delete(one)
    bytes -= one.bytes
    one.entry = null
  }

  function dropOldest(): void {
    let dropped = 0
    for (const one of unsent) {
      if (bytes <= maxBytes) break
      if (one.isSending) continue
      remove(one)
      dropped++
    }
    if (dropped > 0) warn('Spans were dropped: the buffer is full', { dropped, maxBytes })
  }

  async function sendAll(): Promise<void> {
    const batches = [...Map.groupBy(unsent, ({ run }) => run.runId).values()].flatMap(toBatches)
    let failed = 0
    // Batches that have failed come last, where they cannot block the others.
    await mapConcurrent(batches.toSorted(byFailures), CONCURRENT_REQUESTS, async (batch) => {
      // This many failures mean that the store is unreachable.
      if (failed < CONCURRENT_REQUESTS && !(await isSent(batch))) failed++
    })
    dropOldest()
    if (unsent.size > 0) flushIn(failed > 0 ? RETRY_AFTER_MS : FLUSH_MS)
  }

  async function isSent(batch: readonly Buffered[]): Promise<boolean> {
    const kept = batch.filter(({ entry }) => entry !== null)
    const [first] = kept
    if (first === undefined) return true
    for (const one of kept) one.isSending = true
    try {
      const entries = kept.flatMap(({ entry }) => entry ?? [])
      await send(
        first.run,
        (encode === null ? entries : await encode(entries)).map((entry) => JSON.stringify(entry)),
      )
      kept.forEach(remove)
      return true
    } catch (error) {
      for (const one of kept) Object.assign(one, { failures: one.failures + 1, isSending: false })
      warn('Spans could not be sent; will retry', { error })
      return false
    }
  }

  async function flush(): Promise<number> {
    clearTimeout(timer)
    timer = undefined
    await flushing
    flushing ??= sendAll().finally(() => {
      flushing = undefined
    })
    await flushing
    return unsent.size
  }

  return {
    add(run, given) {
      try {
        const entry = { ...toRedacted(given, redact, LIMITS), ...(redactedBy !== null && { redacted: redactedBy }) }
        const size = Buffer.byteLength(JSON.stringify(entry))
        unsent.add({ run, entry, bytes: size, failures: 0, isSending: false })
        bytes += size
        dropOldest()
        flushIn(FLUSH_MS)
      } catch (error) {
        warn('A span could not be recorded', { kind: given.kind, name: given.name, error })
      }
    },
    flush,
  }
}

function byFailures([one]: readonly Buffered[], [other]: readonly Buffered[]): number {
  return (one?.failures ?? 0) - (other?.failures ?? 0)
}

function toBatches(entries: readonly Buffered[]): Buffered[][] {
  const batches: Buffered[][] = []
  let room = 0
  for (const one of entries) {
    const last = batches.at(-1)
    if (last === undefined || last.length === MAX_BATCH || one.bytes > room) {
      batches.push([one])
      room = MAX_BATCH_BYTES
    } else last.push(one)
    room -= one.bytes
  }
  return batches
}
