/**
 * All waits of this process for the ends of runs, over a bounded number of long polls:
 * docs/decisions/026-waits-share-polls.md.
 */

import { sleep, whenOver } from '../../../shared/lib/abort.ts'
import { mapConcurrent } from '../../../shared/lib/map-concurrent.ts'
import type { Closing } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import { type PollHolder, type PollSlots, pollHolder } from '../polls.ts'

export interface SharedWaitsPorts extends Pick<BatchPorts, 'findEnded'> {
  /**
   * Follows a run with long polls until it ends. Null when `signal` aborts first; `'limited'` when the engine allows no
   * more polls at the moment.
   */
  poll(run: RunRef, signal: AbortSignal, note: Call['note']): Promise<Closing | 'limited' | null>
  /** How a run ended; null while it is open, or cannot be read at the moment. */
  readClosing(run: RunRef): Promise<Closing | null>
  slots: PollSlots
}

export interface SharedWaits {
  /** How the run ended; null when `call` is over first. Rejects as `poll` and `readClosing` do. */
  wait(run: RunRef, call: Call): Promise<Closing | null>
}

// How many runs without a poll get a free one before each batch. Only a few, because the engine may reject them, and
// because runs whose clients all leave at once would get a poll just before they leave.
const PROMOTIONS = 5

// A poll that is closed sooner was useless, and proxies close connections whose streams are reset early (Envoy: if half
// of them are reset within a second).
const MIN_POLL_MS = 2000

interface Poll {
  openedAt: number
  abort(): void
  freeSlot(): void
}

/**
 * Each run that requests wait for has either a poll of its own, or is looked up together with others, in batches. The
 * runs that were waited for last have the polls, because most runs end soon: if all polls are in use, the oldest one is
 * closed, and its run moves to the batches until a poll is free. A caller with rules uses a share of the polls.
 */
export function createSharedWaits(ports: SharedWaitsPorts): SharedWaits {
  const { slots } = ports
  const watches = new Map<string, Watch>()
  // In the order in which the polls were opened.
  const polls = new Map<Watch, Poll>()
  const batches = createBatches({
    findEnded: ports.findEnded,
    check,
    beforeLookUp: promote,
  })

  function enter(run: RunRef, holder: PollHolder): Watch {
    const watch: Watch = { run, holder, waiters: new Set(), checkedAt: Date.now() }
    watches.set(keyOf(run), watch)
    if (!slots.hasFree(holder)) giveUpOldestPoll(holder)
    followOrAdd(watch)
    return watch
  }

  function followOrAdd(watch: Watch): void {
    const freeSlot = slots.take(watch.holder)
    if (freeSlot === null) batches.add(watch)
    else void follow(watch, freeSlot)
  }

  /** A caller with a slot gives up a poll of its own, or none if it has its slots for streams. */
  function giveUpOldestPoll(holder: PollHolder): void {
    const [first] = polls
    const own = [...polls].find(([watch]) => watch.holder === holder)
    const oldest = own ?? (slots.holds(holder) ? undefined : first)
    if (oldest === undefined) return
    const [watch, { openedAt }] = oldest
    if (Date.now() - openedAt < MIN_POLL_MS) return
    closePoll(watch)
    batches.add(watch)
  }

  function promote(): void {
    for (let count = 0; count < PROMOTIONS && slots.hasFree(null); count++) {
      const next = batches.shift(({ holder }) => slots.hasFree(holder))
      if (next !== undefined) followOrAdd(next)
    }
  }

  async function follow(watch: Watch, freeSlot: () => void): Promise<void> {
    const controller = new AbortController()
    const poll: Poll = { openedAt: Date.now(), abort: () => controller.abort(), freeSlot }
    polls.set(watch, poll)
    // The poll may be closed by the time it returns, and the run may even have another one.
    const isOpen = () => polls.get(watch) === poll
    try {
      const closing = await ports.poll(watch.run, controller.signal, (fields) => noteAll(watch, fields))
      if (!isOpen() || closing === null) return
      if (closing === 'limited') lowerLimit(watch)
      else end(watch, closing)
    } catch (error) {
      if (isOpen()) fail(watch, error)
    }
  }

  function lowerLimit(watch: Watch): void {
    closePoll(watch)
    slots.lower()
    batches.add(watch)
  }

  function closePoll(watch: Watch): void {
    const poll = polls.get(watch)
    polls.delete(watch)
    poll?.abort()
    poll?.freeSlot()
  }

  async function check(watch: Watch): Promise<void> {
    watch.checkedAt = Date.now()
    try {
      const closing = await ports.readClosing(watch.run)
      if (closing !== null) end(watch, closing)
    } catch (error) {
      fail(watch, error)
    }
  }

  function end(watch: Watch, closing: Closing): void {
    forget(watch)
    endAll(watch, closing)
  }

  function fail(watch: Watch, error: unknown): void {
    forget(watch)
    failAll(watch, error)
  }

  /** Forgets a run without waits. */
  function leave(watch: Watch): void {
    if (watch.waiters.size === 0) forget(watch)
  }

  function forget(watch: Watch): void {
    if (watches.get(keyOf(watch.run)) !== watch) return
    watches.delete(keyOf(watch.run))
    batches.delete(watch)
    closePoll(watch)
  }

  return {
    wait(run, call) {
      if (call.signal.aborted || call.deadlineAt <= Date.now()) return Promise.resolve(null)
      const watch = watches.get(keyOf(run)) ?? enter(run, pollHolder(call))
      return join(watch, call, leave)
    },
  }
}

function keyOf({ workflowId, runId }: RunRef): string {
  return `${runId}/${workflowId}`
}

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
interface Waiter {
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
function join(
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
function endAll({ waiters }: Watch, closing: Closing): void {
  for (const { stop, resolve } of waiters) {
    stop()
    resolve(closing)
  }
  waiters.clear()
}

/** Rejects all waits. */
function failAll({ waiters }: Watch, error: unknown): void {
  for (const { stop, reject } of waiters) {
    stop()
    reject(error)
  }
  waiters.clear()
}

/** Adds fields to the log lines of all requests that wait for the run. */
function noteAll({ waiters }: Watch, fields: Parameters<Call['note']>[0]): void {
  for (const { note } of waiters) note(fields)
}

/** The runs without a poll. They are looked up in turns, a hundred at a time. */
interface Batches {
  add(watch: Watch): void
  delete(watch: Watch): void
  /** Removes and returns the run that is due first, of those that may have a poll. */
  shift(mayPoll: (watch: Watch) => boolean): Watch | undefined
}

interface BatchPorts {
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
function lookUpEveryMs(runs: number): number {
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
