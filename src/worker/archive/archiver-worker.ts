import { type NativeConnection, Worker } from '@temporalio/worker'
import { unlessAborted } from '../../lib/abort.ts'
import { ARCHIVER_TYPE, archiverId } from '../../protocol/trace/keys.ts'
import type { Warn } from '../tracing/rate-limited-warnings.ts'
import { type ArchiverState, type KnownOfRun, runArchiveLoop } from './archive-loop.ts'
import { type ArchivePorts, archiveRun } from './archive-run.ts'
import type { ClosedRun } from './closed-run.ts'
import { createArchiverEngine } from './engine.ts'

export interface ArchiverWorkerOptions {
  connection: NativeConnection
  namespace: string
  /** The task queue whose runs are archived. */
  catalog: string
  identity: string
  ports: Omit<ArchivePorts, 'catalog' | 'history'>
  warn: Warn
  pollMs?: number | undefined
}

// Restarts an archiver that an operator terminated or that was lost with the engine's data.
const ENSURE_EVERY_MS = 60_000

// Bounds the shutdown of the user's worker, which waits for this one.
const SHUTDOWN_FORCE_TIME = '1500ms'

/**
 * Runs a worker for the archiver of the task queue until `signal` aborts.
 *
 * The archiver is a standalone activity. The engine runs it on one of the processes that call this function. If that
 * process dies, the engine retries the activity on another one, with the details of its last heartbeat. On an engine
 * without standalone activities every process archives all runs: the result is the same, for more work.
 *
 * Never rejects; errors are logged.
 */
export async function runArchiverWorker(options: ArchiverWorkerOptions, signal: AbortSignal): Promise<void> {
  const { connection, namespace, catalog, ports, warn, pollMs } = options
  const engine = createArchiverEngine(options)
  const since = Date.now()
  let isMaskingKnown = false

  async function archive(run: ClosedRun, known: KnownOfRun, until: AbortSignal): Promise<void> {
    if (known.isCatalogRedacted && ports.redactedBy !== catalog && !isMaskingKnown) {
      isMaskingKnown = true
      warn(MASKING, { catalog })
    }
    return archiveRun(run, { ...ports, catalog, history: engine.history }, known, until)
  }

  const loop = (state: ArchiverState, heartbeat: (state: ArchiverState) => void, until: AbortSignal) =>
    runArchiveLoop({ namespace, engine, archive, heartbeat, warn, pollMs }, state, until)

  async function activity(input: { since?: number } | undefined): Promise<never> {
    // An optional peer dependency that workers without tracing need not install.
    const { ApplicationFailure, Context } = await import('@temporalio/activity')
    const { info, heartbeat, cancellationSignal } = Context.current()
    await loop(toState(info.heartbeatDetails, input?.since ?? since), (state) => heartbeat(state), cancellationSignal)
    // With this delay, instead of the retry interval, the activity starts on another worker at once.
    throw ApplicationFailure.create({ message: 'This worker is shutting down', nextRetryDelay: '100ms' })
  }

  async function runActivityWorker(): Promise<void> {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: archiverId(catalog),
      activities: { [ARCHIVER_TYPE]: activity },
      maxConcurrentActivityTaskExecutions: 1,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
      shutdownGraceTime: 0,
      shutdownForceTime: SHUTDOWN_FORCE_TIME,
    })
    const ensure = () =>
      engine.ensureArchiver(since, signal).catch((error) => warnUnlessStopping(START_FAILED, { error }))
    const timer = setInterval(ensure, ENSURE_EVERY_MS)
    void ensure()
    try {
      const running = worker.run()
      await unlessAborted(running, signal).catch(() => {
        if (worker.getState() === 'RUNNING') worker.shutdown()
      })
      await running
    } finally {
      clearInterval(timer)
    }
  }

  function warnUnlessStopping(message: string, fields: { error: unknown }): void {
    if (!signal.aborted) warn(message, fields)
  }

  try {
    await checkDestinations(ports, signal, warnUnlessStopping)
    if (await engine.hasStandaloneActivities(signal)) await runActivityWorker()
    else await loop({ watermark: since, failing: [] }, () => {}, signal)
  } catch (error) {
    warnUnlessStopping('This process does not archive traces', { error })
  }
}

const MASKING =
  'The workers of this catalog redact values, but this process does not have their redact: it archives [redacted] instead'

const START_FAILED = 'The trace archiver could not be started; will retry'

const CHECK_TIMEOUT_MS = 5000

/** Warns at startup about each bucket or folder that cannot be written to. */
export async function checkDestinations(
  { destinations }: Pick<ArchivePorts, 'destinations'>,
  signal: AbortSignal,
  warn: (message: string, fields: { error: unknown }) => void,
): Promise<void> {
  const checks = destinations.map((destination) =>
    destination
      .check({ signal, deadlineAt: Date.now() + CHECK_TIMEOUT_MS })
      .catch((error: unknown) => warn(`Traces cannot be written to ${destination.name}; will retry`, { error })),
  )
  await Promise.all(checks)
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
