/**
 * All waits of this process for the ends of runs, over a bounded number of long polls:
 * docs/decisions/026-waits-share-polls.md.
 */

import type { Closing } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import { type PollHolder, type PollSlots, pollHolder } from './poll-slots.ts'
import { type BatchPorts, createBatches, endAll, failAll, join, noteAll, type Watch } from './watch.ts'

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
