import { type NativeConnection, Worker } from '@temporalio/worker'
import { ARCHIVER_TYPE, archiverId } from '../../protocol/trace/keys.ts'
import type { Warn } from '../tracing/rate-limited-warnings.ts'
import { type ArchiverState, archiveForEver } from './archive-loop.ts'
import { type ArchivePorts, archiveRun, type ClosedRun } from './archive-run.ts'
import { createArchiverEngine } from './engine.ts'

export interface ArchiverHostOptions {
  connection: NativeConnection
  namespace: string
  /** The task queue whose runs are archived. */
  catalog: string
  identity: string
  ports: Omit<ArchivePorts, 'history'>
  warn: Warn
}

// An archiver that an operator has terminated, or that went with the engine's data, is started again.
const ASSERT_EVERY_MS = 60_000

// Whatever hangs: the user's worker does not wait for it.
const SHUTDOWN_FORCE_TIME = '1500ms'

/**
 * Offers this process to the engine as a host of the catalog's archiver, until `signal` aborts.
 *
 * The archiver is one standalone activity: the engine runs it in one of all the processes that offer themselves, and starts
 * it elsewhere with its last heartbeat when that process dies. Where the engine has no standalone activities, every process
 * archives by itself: more work, and the same result. Never rejects.
 */
export async function hostArchiver(options: ArchiverHostOptions, signal: AbortSignal): Promise<void> {
  const { connection, namespace, catalog, ports, warn } = options
  const engine = createArchiverEngine(options)
  const since = Date.now()
  const archive = (run: ClosedRun, isStored: boolean, until: AbortSignal) =>
    archiveRun(run, { ...ports, history: engine.history }, isStored, until)

  const loop = (state: ArchiverState, heartbeat: (state: ArchiverState) => void, until: AbortSignal) =>
    archiveForEver({ namespace, engine, archive, heartbeat, warn }, state, until)

  async function activity(input: { since?: number } | undefined): Promise<never> {
    // Not before it is needed: a worker without tracing need not have the package.
    const { ApplicationFailure, Context } = await import('@temporalio/activity')
    const { info, heartbeat, cancellationSignal } = Context.current()
    await loop(toState(info.heartbeatDetails, input?.since ?? since), (state) => heartbeat(state), cancellationSignal)
    // Hands over at once; after a plain failure the next host would wait for the retry interval.
    throw ApplicationFailure.create({ message: 'This worker shuts down', nextRetryDelay: '100ms' })
  }

  async function runActivities(): Promise<void> {
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
    const assert = () =>
      engine.ensureArchiver(since, signal).catch((error) => unlessAborted(signal, () => warn(START_FAILED, { error })))
    const timer = setInterval(assert, ASSERT_EVERY_MS)
    void assert()
    const stop = () => worker.getState() === 'RUNNING' && worker.shutdown()
    try {
      const running = worker.run()
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      await running
    } finally {
      clearInterval(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  try {
    await checkTargets(ports, signal, warn)
    if (await engine.hasStandaloneActivities(signal)) await runActivities()
    else await loop({ watermark: since, failing: [] }, () => {}, signal)
  } catch (error) {
    unlessAborted(signal, () => warn('Traces are not archived by this process', { error }))
  }
}

const START_FAILED = 'The archiver of traces could not be started and will be retried'

const CHECK_TIMEOUT_MS = 5000

/** Warns of an unusable bucket or folder once, at the start. */
export async function checkTargets(
  { targets }: Pick<ArchivePorts, 'targets'>,
  signal: AbortSignal,
  warn: Warn,
): Promise<void> {
  const checks = targets.map((target) =>
    target.check({ signal, deadlineAt: Date.now() + CHECK_TIMEOUT_MS }).catch((error: unknown) => {
      unlessAborted(signal, () =>
        warn(`Traces cannot be written to ${target.name}; until they can, they are retried`, { error }),
      )
    }),
  )
  await Promise.all(checks)
}

function unlessAborted(signal: AbortSignal, act: () => void): void {
  if (!signal.aborted) act()
}

/** The details of the last heartbeat, as far as they can be trusted. */
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
