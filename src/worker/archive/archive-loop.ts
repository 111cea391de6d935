import { setTimeout as sleep } from 'node:timers/promises'
import { boundedMap } from '../../lib/bounded-map.ts'
import { mapConcurrent } from '../../lib/map-concurrent.ts'
import type { Warn } from '../tracing/rate-limited-warnings.ts'
import type { ClosedRun } from './archive-run.ts'
import type { ArchiverEngine, Window } from './engine.ts'

/** What the next archiver of the catalog has to know: the details of the activity's heartbeats. */
export interface ArchiverState {
  /** All runs that closed before it are archived, but for those that are failing. Epoch milliseconds. */
  watermark: number
  failing: Pick<ClosedRun, 'runId' | 'workflowId'>[]
}

export interface ArchiverPorts {
  namespace: string
  engine: Pick<ArchiverEngine, 'countClosed' | 'listClosed'>
  /** `isStored`: it was archived before, so there is nothing to do unless it has new spans. */
  archive(run: ClosedRun, isStored: boolean, signal: AbortSignal): Promise<void>
  /** Keeps the state where the next archiver finds it. */
  heartbeat(state: ArchiverState): void
  warn: Warn
  now?: () => number
  pollMs?: number
}

const POLL_MS = 5000
// A run that has just closed gets the time in which its last spans are sent.
const SETTLE_MS = 1000
// The engine's index shows a closed run late: usually after milliseconds, seldom after minutes.
const OVERLAP_MS = 10_000
// Spans come late from a process that stood still, or after an outage of their store. The widest first.
const LOOKS_BACK = [
  { everyMs: 5 * 60_000, overlapMs: 15 * 60_000 },
  { everyMs: 30_000, overlapMs: 2 * 60_000 },
]
const TAKEOVER_OVERLAP_MS = 60 * 60_000

const RETRY_FAILING_MS = 60_000
const MAX_FAILING = 100
const CONCURRENT_RUNS = 16
// Of one window, and of one page of the engine's list: it lists the newest first, so progress is kept by whole windows.
const MAX_WINDOW_RUNS = 1000
// Not worth a count, as most polls are.
const SHORT_WINDOW_MS = 60_000
const MAX_REMEMBERED = 50_000

/** Archives closed runs, oldest window first, until `signal` aborts. Never rejects otherwise. */
export async function archiveForEver(
  ports: ArchiverPorts,
  { watermark, failing }: ArchiverState,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, engine, archive, heartbeat, warn, now = Date.now, pollMs = POLL_MS } = ports
  const state: ArchiverState = { watermark, failing: [...failing] }
  const archived = boundedMap<string, true>(MAX_REMEMBERED)
  let overlapMs = TAKEOVER_OVERLAP_MS
  const looks = LOOKS_BACK.map((look) => ({ ...look, nextAt: now() + look.everyMs }))
  let nextRetryAt = now() + RETRY_FAILING_MS

  async function archiveAll(runs: readonly ClosedRun[]): Promise<void> {
    await mapConcurrent(runs, CONCURRENT_RUNS, async (run) => {
      signal.throwIfAborted()
      try {
        await archive(run, archived.has(run.runId), signal)
        archived.set(run.runId, true)
        state.failing = state.failing.filter(({ runId }) => runId !== run.runId)
      } catch (error) {
        signal.throwIfAborted()
        warn('A trace could not be archived and will be retried', {
          workflowId: run.workflowId,
          runId: run.runId,
          error,
        })
        if (state.failing.some(({ runId }) => runId === run.runId)) return
        // So many failures are an outage: the window is repeated instead.
        if (state.failing.length >= MAX_FAILING) throw error
        state.failing.push({ workflowId: run.workflowId, runId: run.runId })
      }
    })
  }

  /** Window by window, so that an interruption loses little. */
  async function archiveUntil(end: number): Promise<void> {
    for (let from = state.watermark - overlapMs; from < end; ) {
      const until = await narrowed(engine, { from, until: end }, signal)
      for await (const runs of engine.listClosed({ from, until }, signal)) await archiveAll(runs)
      state.watermark = Math.max(state.watermark, until)
      heartbeat(state)
      from = until
    }
  }

  // A long window must not look like a dead worker.
  const beat = setInterval(() => heartbeat(state), pollMs)
  try {
    while (true) {
      signal.throwIfAborted()
      try {
        await archiveUntil(now() - SETTLE_MS)
        const due = looks.find(({ nextAt }) => now() >= nextAt)
        overlapMs = due?.overlapMs ?? OVERLAP_MS
        if (due !== undefined) due.nextAt = now() + due.everyMs
        if (now() >= nextRetryAt) {
          nextRetryAt = now() + RETRY_FAILING_MS
          await archiveAll(state.failing.map((run) => ({ namespace, ...run })))
        }
      } catch (error) {
        signal.throwIfAborted()
        warn('The archive of traces is interrupted', { error })
      }
      await sleep(pollMs, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearInterval(beat)
    heartbeat(state)
  }
}

/** The end of the first part of the window that is small enough to be listed at once. */
async function narrowed(engine: ArchiverPorts['engine'], window: Window, signal: AbortSignal): Promise<number> {
  let { until } = window
  while (
    until - window.from > SHORT_WINDOW_MS &&
    (await engine.countClosed({ ...window, until }, signal)) > MAX_WINDOW_RUNS
  ) {
    until = Math.floor((window.from + until) / 2)
  }
  return until
}
