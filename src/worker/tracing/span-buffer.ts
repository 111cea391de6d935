import { mapConcurrent } from '../../lib/map-concurrent.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import type { Warn } from './rate-limited-warnings.ts'
import { type Limits, type Redact, toRedacted } from './redact.ts'
import type { SpanRun } from './span.ts'

export interface SpanBufferOptions {
  /** Appends entries to the list of a run, one JSON text each; may be repeated. */
  send(run: SpanRun, texts: readonly string[]): Promise<void>
  /** Makes the worker's payload codec encode the values; null without one. */
  encode: ((entries: readonly TraceEntry[]) => Promise<TraceEntry[]>) | null
  redact: Redact
  warn: Warn
  /** Of everything not sent yet; beyond it the oldest entries are dropped. */
  maxBytes?: number
}

export interface SpanBuffer {
  /** Never throws and never waits. */
  add(run: SpanRun, entry: TraceEntry): void
  /** Sends everything once; resolves when the attempt is over. Returns how many entries could not be sent. */
  flush(): Promise<number>
}

interface Buffered {
  run: SpanRun
  entry: TraceEntry
  bytes: number
}

const LIMITS: Limits = { maxBytes: 64 * 1024, maxDepth: 100 }
const MAX_BYTES = 16 * 1024 * 1024

// A killed process loses at most this much of its last spans, plus the time to send them.
const FLUSH_MS = 250

// After a failed attempt.
const RETRY_MS = 2000

// Of one request: Upstash's smallest plan takes a megabyte, and each quote in a JSON text comes with a backslash.
const MAX_BATCH_BYTES = 512 * 1024
const MAX_BATCH = 200

const CONCURRENT_REQUESTS = 8

/** Spans on their way out of the process, sent within 250 ms; kept and retried while the store cannot be reached. */
export function createSpanBuffer({ send, encode, redact, warn, maxBytes = MAX_BYTES }: SpanBufferOptions): SpanBuffer {
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
      // So many failures at once mean that the store cannot be reached.
      if (failed.length >= CONCURRENT_REQUESTS) untried.push(batch)
      else if (await isSent(batch)) bytes -= batch.reduce((sum, one) => sum + one.bytes, 0)
      else failed.push(batch)
    })
    // What was refused goes behind what was not tried: it must not keep it from being sent.
    buffered = [...untried.flat(), ...failed.flat(), ...buffered]
    dropOldest()
    if (buffered.length > 0) flushIn(failed.length > 0 ? RETRY_MS : FLUSH_MS)
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
      warn('Spans could not be sent and will be retried', { error })
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
        const entry = toRedacted(given, redact, LIMITS)
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
