import { sleep } from '../../shared/lib/abort.ts'
import { boundedMap } from '../../shared/lib/cache.ts'
import { mapConcurrent } from '../../shared/lib/map-concurrent.ts'
import type { Warn } from '../tracing/rate-limited-warnings.ts'
import type { ClosedRunsEngine, ListedRun, Window } from './engine.ts'

/** What the next scanner of the task queue continues from: the details of the activity's heartbeats. */
export interface ScanState {
  /** All runs that closed before this time are handled, except `failing`. Epoch milliseconds. */
  watermark: number
  failing: Pick<ListedRun, 'runId' | 'workflowId'>[]
}

export interface KnownOfRun {
  /** This process has handled the run before. Of a trace only new spans have to be added. */
  isStored: boolean
  /** The catalog says that its workers redact values. */
  isCatalogRedacted: boolean
}

export interface ScanOptions {
  namespace: string
  engine: Pick<ClosedRunsEngine, 'countClosed' | 'isCatalogRedacted' | 'listClosed'>
  /** Archives the run, or starts the deliveries of its webhooks. Idempotent: it is called again for the same run. */
  handle(run: ListedRun, known: KnownOfRun, signal: AbortSignal): Promise<void>
  /** Called with each poll. Errors are logged as those of the poll. */
  alsoPoll?: ((signal: AbortSignal) => Promise<void>) | undefined
  /** Runs that closed before are not handled. Epoch milliseconds; default: the first poll goes back by an hour. */
  notBefore?: number | undefined
  /** The warnings when a run was not handled, and when the engine could not be asked. */
  messages: { failed: string; interrupted: string }
  /** Saves the state for the next archiver. */
  heartbeat(state: ScanState): void
  warn: Warn
  /** Default: 5 seconds. */
  pollMs?: number | undefined
}

const POLL_MS = 5000
// After a run closes, its last spans are still being sent.
const SETTLE_MS = 1000
// The engine's index shows closed runs late: usually by milliseconds, rarely by minutes.
const OVERLAP_MS = 10_000
// Spans arrive late from a process that was suspended, or after an outage of their store. The widest first.
const RESCANS = [
  { everyMs: 5 * 60_000, overlapMs: 15 * 60_000 },
  { everyMs: 30_000, overlapMs: 2 * 60_000 },
]
const TAKEOVER_OVERLAP_MS = 60 * 60_000

const RETRY_FAILING_MS = 60_000
const MAX_FAILING = 100
const CONCURRENT_RUNS = 16
// The engine lists the newest runs first: progress is saved per window, and a window is listed as a whole.
const MAX_WINDOW_RUNS = 1000
// Most polls cover a shorter window, which needs no count.
const SHORT_WINDOW_MS = 60_000
const MAX_REMEMBERED_RUNS = 50_000

/** Handles closed runs, oldest window first, until `signal` aborts. Errors are logged and retried. */
export async function scanClosedRuns(
  options: ScanOptions,
  { watermark, failing }: ScanState,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, engine, handle, alsoPoll, messages, heartbeat, warn, pollMs = POLL_MS, notBefore = 0 } = options
  const state: ScanState = { watermark, failing: [...failing] }
  const handled = boundedMap<string, true>(MAX_REMEMBERED_RUNS)
  let overlapMs = TAKEOVER_OVERLAP_MS
  const rescans = RESCANS.map((rescan) => ({ ...rescan, nextAt: Date.now() + rescan.everyMs }))
  let nextRetryAt = Date.now() + RETRY_FAILING_MS

  async function handleAll(runs: readonly ListedRun[]): Promise<void> {
    if (runs.length === 0) return
    // Read after the runs have closed: a worker publishes that it redacts values before it executes its first run.
    const isCatalogRedacted = await engine.isCatalogRedacted(signal)
    await mapConcurrent(runs, CONCURRENT_RUNS, async (run) => {
      signal.throwIfAborted()
      try {
        await handle(run, { isStored: handled.has(run.runId), isCatalogRedacted }, signal)
        handled.set(run.runId, true)
        state.failing = state.failing.filter(({ runId }) => runId !== run.runId)
      } catch (error) {
        signal.throwIfAborted()
        const { workflowId, runId } = run
        warn(messages.failed, { workflowId, runId, error })
        if (state.failing.some((known) => known.runId === runId)) return
        // This many failures are an outage: repeat the whole window instead.
        if (state.failing.length >= MAX_FAILING) throw error
        state.failing.push({ workflowId, runId })
      }
    })
  }

  async function handleUntil(end: number): Promise<void> {
    for (let from = Math.max(state.watermark - overlapMs, notBefore); from < end; ) {
      const until = await endOfWindow(engine, { from, until: end }, signal)
      for await (const runs of engine.listClosed({ from, until }, signal)) await handleAll(runs)
      state.watermark = Math.max(state.watermark, until)
      heartbeat(state)
      from = until
    }
  }

  async function poll(): Promise<void> {
    await handleUntil(Date.now() - SETTLE_MS)
    const due = rescans.find(({ nextAt }) => Date.now() >= nextAt)
    overlapMs = due?.overlapMs ?? OVERLAP_MS
    if (due !== undefined) due.nextAt = Date.now() + due.everyMs
    if (Date.now() >= nextRetryAt) {
      nextRetryAt = Date.now() + RETRY_FAILING_MS
      await handleAll(state.failing.map((run) => ({ namespace, ...run })))
    }
    await alsoPoll?.(signal)
  }

  // Heartbeats continue during a long window: without them the engine would start another scanner.
  const heartbeats = setInterval(() => heartbeat(state), pollMs)
  try {
    while (!signal.aborted) {
      try {
        await poll()
      } catch (error) {
        if (!signal.aborted) warn(messages.interrupted, { error })
      }
      await sleep(pollMs, signal)
    }
  } finally {
    clearInterval(heartbeats)
    heartbeat(state)
  }
}

/** Halves the window until it holds few enough runs to be listed at once. */
async function endOfWindow(engine: ScanOptions['engine'], window: Window, signal: AbortSignal): Promise<number> {
  let { until } = window
  while (
    until - window.from > SHORT_WINDOW_MS &&
    (await engine.countClosed({ ...window, until }, signal)) > MAX_WINDOW_RUNS
  ) {
    until = Math.floor((window.from + until) / 2)
  }
  return until
}
