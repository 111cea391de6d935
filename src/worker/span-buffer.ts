import type { RunRef } from '../protocol/run-ref.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { inTurn } from './in-turn.ts'
import { type Limits, type Redact, toRedacted } from './redact.ts'
import type { Trouble } from './trouble.ts'

export interface SpanBufferOptions {
  /** Takes the entries of a run, one JSON text each. */
  send(run: RunRef, texts: readonly string[]): Promise<void>
  redact: Redact
  trouble: Trouble
  /** Of all that is not sent; beyond it the oldest that wait are dropped. */
  maxBytes?: number
  /** How long an entry waits for others. */
  restMs?: number
}

export interface SpanBuffer {
  /** Never throws and never waits. */
  add(run: RunRef, entry: TraceEntry): void
  /** Sends what waits; what can't be sent goes on waiting. */
  flush(): Promise<void>
  /** How many are not sent. */
  left(): number
  stop(): Promise<void>
}

interface Waiting {
  run: RunRef
  text: string
  bytes: number
}

const LIMITS: Limits = { maxBytes: 64 * 1024, maxDepth: 100 }
const MAX_WAITING_BYTES = 16 * 1024 * 1024

// A killed process loses its last second at most: this, and the way to the store.
const REST_MS = 250

// After a store in trouble has been asked in vain.
const TROUBLE_REST_MS = 2000

// Of one request: Upstash's smallest plan takes a megabyte, and a quote in a text comes with a backslash.
const MAX_SENT = 200
const MAX_SENT_BYTES = 512 * 1024

// Requests.
const AT_ONCE = 8

/** Spans on their way out of the process. */
export function createSpanBuffer({ send, redact, trouble, maxBytes = MAX_WAITING_BYTES, restMs = REST_MS }: SpanBufferOptions): SpanBuffer {
  let waiting: Waiting[] = []
  /** Of all that waits or is being sent. */
  let bytes = 0
  let count = 0
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> | null = null

  function wake(ms: number): void {
    timer ??= setTimeout(() => {
      timer = null
      void flush()
    }, ms).unref()
  }

  function take(one: Waiting): void {
    waiting.push(one)
    bytes += one.bytes
    count++
    const dropped: Waiting[] = []
    for (const oldest of waiting) {
      if (bytes <= maxBytes) break
      forget([oldest])
      dropped.push(oldest)
    }
    if (dropped.length === 0) return
    waiting = waiting.slice(dropped.length)
    trouble('Spans were dropped: they can be kept no longer and could not be sent', { dropped: dropped.length, maxBytes })
  }

  function forget(gone: Waiting[]): void {
    for (const one of gone) bytes -= one.bytes
    count -= gone.length
  }

  async function sendAll(): Promise<void> {
    const batches = [...Map.groupBy(waiting, ({ run }) => run.runId).values()].flatMap(batchesOf)
    waiting = []
    const failed: Waiting[][] = []
    const untried: Waiting[][] = []
    await inTurn(batches, AT_ONCE, async (batch) => {
      // So many are not wrong in themselves.
      if (failed.length >= AT_ONCE) untried.push(batch)
      else if (await isSent(batch)) forget(batch)
      else failed.push(batch)
    })
    waiting = [...untried.flat(), ...failed.flat(), ...waiting]
    if (waiting.length > 0) wake(failed.length > 0 ? TROUBLE_REST_MS : restMs)
  }

  async function isSent(batch: Waiting[]): Promise<boolean> {
    const [first] = batch
    if (first === undefined) return true
    try {
      await send(
        first.run,
        batch.map(({ text }) => text),
      )
      return true
    } catch (error) {
      trouble('Spans could not be sent to the key-value store; they will be tried again', { error })
      return false
    }
  }

  async function flush(): Promise<void> {
    await flushing
    flushing ??= sendAll().finally(() => {
      flushing = null
    })
    await flushing
  }

  return {
    add(run, entry) {
      try {
        const text = JSON.stringify(toRedacted(entry, redact, LIMITS))
        take({ run, text, bytes: Buffer.byteLength(text) })
        wake(restMs)
      } catch (error) {
        trouble('A span could not be recorded', { kind: entry.kind, name: entry.name, error })
      }
    },
    flush,
    left: () => count,
    async stop() {
      if (timer !== null) clearTimeout(timer)
      await flush()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

function batchesOf(waiting: Waiting[]): Waiting[][] {
  const batches: Waiting[][] = []
  let left = 0
  for (const one of waiting) {
    const last = batches.at(-1)
    if (last === undefined || last.length === MAX_SENT || one.bytes > left) {
      batches.push([one])
      left = MAX_SENT_BYTES
    } else last.push(one)
    left -= one.bytes
  }
  return batches
}
