import { mapConcurrent } from '../../lib/map-concurrent.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
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
  entry: TraceEntry
  bytes: number
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
  let buffered: Buffered[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  function flushIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, ms).unref()
  }

  function dropOldest(): void {
    let dropped = 0
    while (bytes > maxBytes && dropped < buffered.length) bytes -= buffered[dropped++]?.bytes ?? 0
    if (dropped === 0) return
    buffered = buffered.slice(dropped)
    warn('Spans were dropped: the buffer is full', { dropped, maxBytes })
  }

  async function sendAll(): Promise<void> {
    const batches = [...Map.groupBy(buffered, ({ run }) => run.runId).values()].flatMap(toBatches)
    buffered = []
    const failed: Buffered[][] = []
    const untried: Buffered[][] = []
    await mapConcurrent(batches, CONCURRENT_REQUESTS, async (batch) => {
      // This many failures mean that the store is unreachable.
      if (failed.length >= CONCURRENT_REQUESTS) untried.push(batch)
      else if (await isSent(batch)) bytes -= batch.reduce((sum, one) => sum + one.bytes, 0)
      else failed.push(batch)
    })
    // Failed batches go to the end, where they cannot block the others.
    buffered = [...untried.flat(), ...failed.flat(), ...buffered]
    dropOldest()
    if (buffered.length > 0) flushIn(failed.length > 0 ? RETRY_AFTER_MS : FLUSH_MS)
  }

  async function isSent(batch: readonly Buffered[]): Promise<boolean> {
    const [first] = batch
    if (first === undefined) return true
    try {
      const entries = batch.map(({ entry }) => entry)
      await send(
        first.run,
        (encode === null ? entries : await encode(entries)).map((entry) => JSON.stringify(entry)),
      )
      return true
    } catch (error) {
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
    return buffered.length
  }

  return {
    add(run, given) {
      try {
        const entry = { ...toRedacted(given, redact, LIMITS), ...(redactedBy !== null && { redacted: redactedBy }) }
        const one = { run, entry, bytes: Buffer.byteLength(JSON.stringify(entry)) }
        buffered.push(one)
        bytes += one.bytes
        dropOldest()
        flushIn(FLUSH_MS)
      } catch (error) {
        warn('A span could not be recorded', { kind: given.kind, name: given.name, error })
      }
    },
    flush,
  }
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
