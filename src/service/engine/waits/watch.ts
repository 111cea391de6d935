/** Watches of runs, and the queries that look up the watches without a poll. */

import { sleep, whenOver } from '../../../shared/lib/abort.ts'
import { mapConcurrent } from '../../../shared/lib/map-concurrent.ts'
import type { Closing } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import type { PollHolder } from './poll-slots.ts'

/** One run, and all waits for its end. */
export interface Watch {
  run: RunRef
  /** Of its poll: the first caller that waits for the run. */
  holder: PollHolder
  waiters: Set<Waiter>
  /** Epoch milliseconds of the last read of the run itself; before the first one, of its first wait. */
  checkedAt: number
}

/** Thousands exist at the same time, so each holds only the callbacks that it needs. */
export interface Waiter {
  resolve(closing: Closing | null): void
  reject(error: unknown): void
  /** Releases its timer and its listener. */
  stop(): void
  note: Call['note']
}

/**
 * Adds a wait, which resolves to null when `call` is over before the run ends. `onLeave` is called when it has left
 * early.
 */
export function join(
  watch: Watch,
  { signal, deadlineAt, note }: Call,
  onLeave: (watch: Watch) => void,
): Promise<Closing | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Closing | null>()
  const stop = whenOver(deadlineAt, signal, () => {
    watch.waiters.delete(waiter)
    resolve(null)
    onLeave(watch)
  })
  const waiter: Waiter = { resolve, reject, stop, note }
  watch.waiters.add(waiter)
  return promise
}

/** Resolves all waits with `closing`. */
export function endAll({ waiters }: Watch, closing: Closing): void {
  for (const { stop, resolve } of waiters) {
    stop()
    resolve(closing)
  }
  waiters.clear()
}

/** Rejects all waits. */
export function failAll({ waiters }: Watch, error: unknown): void {
  for (const { stop, reject } of waiters) {
    stop()
    reject(error)
  }
  waiters.clear()
}

/** Adds fields to the log lines of all requests that wait for the run. */
export function noteAll({ waiters }: Watch, fields: Parameters<Call['note']>[0]): void {
  for (const { note } of waiters) note(fields)
}

/** The runs without a poll. They are looked up in turns, a hundred at a time. */
export interface Batches {
  add(watch: Watch): void
  delete(watch: Watch): void
  /** Removes and returns the run that is due first, of those that may have a poll. */
  shift(mayPoll: (watch: Watch) => boolean): Watch | undefined
}

export interface BatchPorts {
  /** The run ids of those that seem to have ended: a hint only. */
  findEnded(runs: readonly RunRef[]): Promise<ReadonlySet<string>>
  /** Reads the run itself, and ends its waits if it has ended. Never rejects. */
  check(watch: Watch): Promise<void>
  /** Called before each batch. */
  beforeLookUp(): void
}

// Run ids in one query. A thousand of them take the engine's SQL stores longer than ten queries of a hundred.
const BATCH_SIZE = 100

// Each run is looked up once per interval, which grows by a second for each thousand runs. The visibility store may
// list a run a second late, so that one lookup misses it: even then its wait should end within 5 s.
const MIN_INTERVAL_MS = 1000
const MAX_INTERVAL_MS = 2500
const RUNS_PER_SECOND = 1000

const LOOK_UPS_AT_ONCE = 4

// How late a lookup may be. After a shorter delay (a busy process or engine) the next lookups follow sooner, so that
// delays do not add up over the hundred lookups of an interval. After a longer delay, lookups are skipped.
const MAX_LATE_MS = 1000

const CHECKS_AT_ONCE = 10

// So many runs of each batch are read whatever the query returns, because the visibility store may never list them.
const CHECKS = 2

// Up to this many runs are cheaper to read than to query. As many of a batch are read if the query fails.
const CHECKS_WITHOUT_QUERY = 10

export function createBatches(ports: BatchPorts): Batches {
  // The run that is due first comes first.
  const queue = new Set<Watch>()
  let isRunning = false

  function takeBatch(): Watch[] {
    const size = Math.ceil(queue.size / countBatches(queue.size))
    const batch: Watch[] = []
    for (const watch of queue) if (batch.push(watch) === size) break
    for (const watch of batch) {
      queue.delete(watch)
      queue.add(watch)
    }
    return batch
  }

  async function run(): Promise<void> {
    isRunning = true
    const open = new Set<Promise<void>>()
    let dueAt = performance.now()
    while (queue.size > 0) {
      dueAt = Math.max(dueAt + lookUpEveryMs(queue.size), performance.now() - MAX_LATE_MS)
      await sleep(Math.max(0, dueAt - performance.now()))
      ports.beforeLookUp()
      const lookUp: Promise<void> = lookUpBatch(ports, takeBatch()).finally(() => open.delete(lookUp))
      open.add(lookUp)
      if (open.size >= Math.min(countBatches(queue.size), LOOK_UPS_AT_ONCE)) await Promise.race(open)
    }
    isRunning = false
  }

  return {
    add(watch) {
      queue.add(watch)
      if (!isRunning) void run()
    },
    delete: (watch) => void queue.delete(watch),
    shift(mayPoll) {
      for (const watch of queue) {
        if (!mayPoll(watch)) continue
        queue.delete(watch)
        return watch
      }
      return undefined
    },
  }
}

/** The time between two batches, so that all runs are looked up once per interval. */
export function lookUpEveryMs(runs: number): number {
  const intervalMs = Math.min(Math.max(MIN_INTERVAL_MS, (runs / RUNS_PER_SECOND) * 1000), MAX_INTERVAL_MS)
  return intervalMs / countBatches(runs)
}

function countBatches(runs: number): number {
  return Math.max(1, Math.ceil(runs / BATCH_SIZE))
}

async function lookUpBatch({ findEnded, check }: BatchPorts, batch: readonly Watch[]): Promise<void> {
  const ended = batch.length <= CHECKS_WITHOUT_QUERY ? null : await findEndedOrNull(findEnded, batch)
  const checks = ended === null ? CHECKS_WITHOUT_QUERY : CHECKS
  const longestUnchecked = batch.toSorted((one, other) => one.checkedAt - other.checkedAt).slice(0, checks)
  const listed = batch.filter(({ run }) => ended?.has(run.runId))
  await mapConcurrent([...new Set([...listed, ...longestUnchecked])], CHECKS_AT_ONCE, check)
}

/** Null if the query fails. */
async function findEndedOrNull(
  findEnded: BatchPorts['findEnded'],
  batch: readonly Watch[],
): Promise<ReadonlySet<string> | null> {
  try {
    return await findEnded(batch.map(({ run }) => run))
  } catch (error) {
    for (const watch of batch) noteAll(watch, { waitInterrupted: error })
    return null
  }
}
