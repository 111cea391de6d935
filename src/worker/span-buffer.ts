import type { RunRef } from '../protocol/run-ref.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { type Limits, type Redact, toRedacted } from './redact.ts'
import type { Trouble } from './trouble.ts'

export interface SpanBufferOptions {
  /** Takes the entries of a run, one JSON text each. */
  send(run: RunRef, texts: readonly string[]): Promise<void>
  redact: Redact
  trouble: Trouble
  /** Of all that waits; beyond it the oldest are dropped. */
  maxBytes?: number
  /** How long an entry waits for others. */
  restMs?: number
}

export interface SpanBuffer {
  /** Never throws and never waits. */
  add(run: RunRef, entry: TraceEntry): void
  /** Sends what waits; what can't be sent goes on waiting. */
  flush(): Promise<void>
  stop(): Promise<void>
}

interface Waiting {
  run: RunRef
  text: string
}

const LIMITS: Limits = { maxBytes: 64 * 1024, maxDepth: 100 }
const MAX_WAITING_BYTES = 16 * 1024 * 1024

// A killed process loses its last second at most: this, and the way to the store.
const REST_MS = 400

// After a store in trouble has been asked in vain.
const TROUBLE_REST_MS = 2000

// What is sent at once.
const MAX_SENT = 200

/** Spans on their way out of the process. */
export function createSpanBuffer({ send, redact, trouble, maxBytes = MAX_WAITING_BYTES, restMs = REST_MS }: SpanBufferOptions): SpanBuffer {
  let waiting: Waiting[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> | null = null

  function wake(ms: number): void {
    timer ??= setTimeout(() => {
      timer = null
      void flush()
    }, ms).unref()
  }

  function take(more: Waiting[], { front }: { front: boolean }): void {
    waiting = front ? [...more, ...waiting] : waiting
    if (!front) waiting.push(...more)
    for (const { text } of more) bytes += text.length
    let dropped = 0
    while (bytes > maxBytes && dropped < waiting.length) bytes -= waiting[dropped++]?.text.length ?? 0
    if (dropped === 0) return
    waiting = waiting.slice(dropped)
    trouble('Spans were dropped: they can be kept no longer and could not be sent', { dropped, maxBytes })
  }

  async function sendAll(): Promise<void> {
    const taken = waiting
    waiting = []
    bytes = 0
    const batches = [...Map.groupBy(taken, ({ run }) => run.runId).values()].flatMap(batchesOf)
    const kept = await Promise.all(batches.map(sendBatch))
    const unsent = kept.flat()
    if (unsent.length > 0) take(unsent, { front: true })
    if (waiting.length > 0) wake(unsent.length > 0 ? TROUBLE_REST_MS : restMs)
  }

  /** What could not be sent. */
  async function sendBatch(batch: Waiting[]): Promise<Waiting[]> {
    const [first] = batch
    if (first === undefined) return []
    try {
      await send(
        first.run,
        batch.map(({ text }) => text),
      )
      return []
    } catch (error) {
      trouble('Spans could not be sent to the key-value store; they will be tried again', { error })
      return batch
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
        take([{ run, text: JSON.stringify(toRedacted(entry, redact, LIMITS)) }], { front: false })
        wake(restMs)
      } catch (error) {
        trouble('A span could not be recorded', { kind: entry.kind, name: entry.name, error })
      }
    },
    flush,
    async stop() {
      if (timer !== null) clearTimeout(timer)
      await flush()
      if (timer !== null) clearTimeout(timer)
      if (waiting.length > 0) trouble('Spans were dropped: the worker ends', { dropped: waiting.length })
    },
  }
}

function batchesOf(waiting: Waiting[]): Waiting[][] {
  return Array.from({ length: Math.ceil(waiting.length / MAX_SENT) }, (_, index) => waiting.slice(index * MAX_SENT, (index + 1) * MAX_SENT))
}
