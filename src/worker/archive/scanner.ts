import { type NativeConnection, Worker } from '@temporalio/worker'
import { unlessAborted } from '../../lib/abort.ts'
import { type ArchiveLoopOptions, type ArchiverState, runArchiveLoop } from './archive-loop.ts'
import type { ArchiverEngine, ScannerActivity } from './engine.ts'

export interface ScannerOptions extends Pick<ArchiveLoopOptions, 'handle' | 'namespace' | 'pollMs' | 'warn'> {
  connection: NativeConnection
  activity: ScannerActivity
  engine: ArchiverEngine
  messages: ArchiveLoopOptions['messages'] & { notStarted: string }
  /** Whether runs that closed before the scanner was first started are left out. */
  onlyNew?: boolean
}

/** Scans the closed runs of a task queue. */
export interface Scanner {
  /**
   * Runs a worker for the scanner until `signal` aborts.
   *
   * The scanner is a standalone activity. The engine runs it on one of the processes that call this function. If that
   * process dies, the engine retries the activity on another one, with the details of its last heartbeat.
   */
  runWorker(signal: AbortSignal): Promise<void>
  /** Scans in this process, whether others do so or not, until `signal` aborts. */
  scan(signal: AbortSignal): Promise<void>
}

// Restarts a scanner that an operator terminated or that was lost with the engine's data.
const ENSURE_EVERY_MS = 60_000

// Bounds the shutdown of the user's worker, which waits for this one.
const SHUTDOWN_FORCE_TIME = '1500ms'

// How far the clocks of this process and of the engine may differ.
const CLOCK_SKEW_MS = 30_000

export function createScanner(options: ScannerOptions): Scanner {
  const { connection, namespace, activity, engine, messages, warn, onlyNew = false } = options
  const since = Date.now()

  const loop = (state: ArchiverState, heartbeat: ArchiveLoopOptions['heartbeat'], first: number, until: AbortSignal) =>
    runArchiveLoop({ ...options, heartbeat, notBefore: onlyNew ? first - CLOCK_SKEW_MS : undefined }, state, until)

  async function run(input: { since?: number } | undefined): Promise<never> {
    // An optional peer dependency that workers without tracing need not install.
    const { ApplicationFailure, Context } = await import('@temporalio/activity')
    const { info, heartbeat, cancellationSignal } = Context.current()
    const first = input?.since ?? since
    const state = toState(info.heartbeatDetails, first)
    await loop(state, (details) => heartbeat(details), first, cancellationSignal)
    // With this delay, instead of the retry interval, the activity starts on another worker at once.
    throw ApplicationFailure.create({ message: 'This worker is shutting down', nextRetryDelay: '100ms' })
  }

  return {
    async runWorker(signal) {
      const worker = await Worker.create({
        connection,
        namespace,
        taskQueue: activity.id,
        activities: { [activity.type]: run },
        maxConcurrentActivityTaskExecutions: 1,
        activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
        shutdownGraceTime: 0,
        shutdownForceTime: SHUTDOWN_FORCE_TIME,
      })
      const ensure = () =>
        engine.ensureScanner(activity, since, signal).catch((error) => {
          if (!signal.aborted) warn(messages.notStarted, { error })
        })
      const timer = setInterval(ensure, ENSURE_EVERY_MS)
      void ensure()
      try {
        await runUntil(worker, signal)
      } finally {
        clearInterval(timer)
      }
    },
    scan: (signal) => loop({ watermark: since, failing: [] }, () => {}, since, signal),
  }
}

/** Runs the worker, and shuts it down when `signal` aborts. */
export async function runUntil(worker: Worker, signal: AbortSignal): Promise<void> {
  const running = worker.run()
  await unlessAborted(running, signal).catch(() => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
  })
  await running
}

/** Reads the details of the last heartbeat; unreadable parts are ignored. */
function toState(details: unknown, since: number): ArchiverState {
  const { watermark, failing } = (details ?? {}) as Partial<Record<keyof ArchiverState, unknown>>
  return {
    watermark: typeof watermark === 'number' ? watermark : since,
    failing: Array.isArray(failing) ? failing.filter(isFailing) : [],
  }
}

function isFailing(value: unknown): value is ArchiverState['failing'][number] {
  return typeof value === 'object' && value !== null && 'runId' in value && 'workflowId' in value
}
