import type { NativeConnection } from '@temporalio/worker'
import { ActivityIdConflictPolicy, ActivityIdReusePolicy } from '../../shared/temporal/enums.ts'
import { TEN_YEARS_MS, toDuration } from '../../shared/temporal/time.ts'
import type { ClosedRunsEngine, StandaloneActivity } from './engine.ts'
import { type ScanOptions, type ScanState, scanClosedRuns } from './scan-loop.ts'
import { handOver, loadActivitySdk, runActivities } from './standalone-worker.ts'

export interface ScannerOptions extends Pick<ScanOptions, 'alsoPoll' | 'handle' | 'namespace' | 'pollMs' | 'warn'> {
  connection: NativeConnection
  /** The standalone activity that scans. Its id is also the name of its own task queue. */
  activity: { id: string; type: string }
  engine: ClosedRunsEngine
  messages: ScanOptions['messages'] & { notStarted: string }
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

// How far the clocks of this process and of the engine may differ.
const CLOCK_SKEW_MS = 30_000

export function createScanner(options: ScannerOptions): Scanner {
  const { connection, namespace, activity, engine, messages, warn, onlyNew = false } = options
  const since = Date.now()

  const loop = (state: ScanState, heartbeat: ScanOptions['heartbeat'], first: number, until: AbortSignal) =>
    scanClosedRuns({ ...options, heartbeat, notBefore: onlyNew ? first - CLOCK_SKEW_MS : undefined }, state, until)

  async function run(input: { since?: number } | undefined): Promise<never> {
    const { Context } = await loadActivitySdk()
    const { info, heartbeat, cancellationSignal } = Context.current()
    const first = input?.since ?? since
    const state = toState(info.heartbeatDetails, first)
    await loop(state, (details) => heartbeat(details), first, cancellationSignal)
    throw await handOver()
  }

  return {
    async runWorker(signal) {
      const ensure = () =>
        engine.startActivity(scanActivity(activity, since), signal).catch((error) => {
          if (!signal.aborted) warn(messages.notStarted, { error })
        })
      const timer = setInterval(ensure, ENSURE_EVERY_MS)
      void ensure()
      try {
        await runActivities(
          {
            connection,
            namespace,
            taskQueue: activity.id,
            activities: { [activity.type]: run },
            maxConcurrentActivityTaskExecutions: 1,
            shutdownGraceTime: 0,
          },
          signal,
        )
      } finally {
        clearInterval(timer)
      }
    },
    scan: (signal) => loop({ watermark: since, failing: [] }, () => {}, since, signal),
  }
}

// After this time another worker takes over from one that was killed.
const HEARTBEAT_TIMEOUT_MS = 30_000

/** The scanner, which runs only once. It scans runs that closed after `since`. */
function scanActivity({ id, type }: ScannerOptions['activity'], since: number): StandaloneActivity {
  return {
    activityId: id,
    type,
    queue: id,
    // The engine requires this timeout or `scheduleToCloseTimeout`.
    startToCloseTimeout: toDuration(TEN_YEARS_MS),
    heartbeatTimeout: toDuration(HEARTBEAT_TIMEOUT_MS),
    // The attempt number never resets: with a coefficient above 1 each takeover would be slower than the last.
    retryPolicy: { initialInterval: toDuration(1000), backoffCoefficient: 1, maximumAttempts: 0 },
    idReusePolicy: ActivityIdReusePolicy.ALLOW_DUPLICATE,
    idConflictPolicy: ActivityIdConflictPolicy.USE_EXISTING,
    input: { since },
  }
}

/** Reads the details of the last heartbeat; unreadable parts are ignored. */
function toState(details: unknown, since: number): ScanState {
  const { watermark, failing } = (details ?? {}) as Partial<Record<keyof ScanState, unknown>>
  return {
    watermark: typeof watermark === 'number' ? watermark : since,
    failing: Array.isArray(failing) ? failing.filter(isFailing) : [],
  }
}

function isFailing(value: unknown): value is ScanState['failing'][number] {
  return typeof value === 'object' && value !== null && 'runId' in value && 'workflowId' in value
}
