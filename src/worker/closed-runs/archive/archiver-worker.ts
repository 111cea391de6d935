import type { NativeConnection } from '@temporalio/worker'
import { ARCHIVER_TYPE, archiverId } from '../../../shared/wire/trace/keys.ts'
import type { Warn } from '../../tracing/rate-limited-warnings.ts'
import { createClosedRunsEngine, type ListedRun } from '../engine.ts'
import type { KnownOfRun } from '../scan-loop.ts'
import { createScanner } from '../scanner.ts'
import { type ArchivePorts, archiveRun } from './archive-run.ts'

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

/**
 * Runs a worker for the archiver of the task queue until `signal` aborts.
 *
 * The archiver is a standalone activity. The engine runs it on one of the processes that call this function. On an
 * engine without standalone activities every process archives all runs: the result is the same, for more work.
 *
 * Never rejects; errors are logged.
 */
export async function runArchiverWorker(options: ArchiverWorkerOptions, signal: AbortSignal): Promise<void> {
  const { connection, namespace, catalog, ports, warn, pollMs } = options
  const engine = createClosedRunsEngine(options)
  let isMaskingKnown = false

  async function archive(run: ListedRun, known: KnownOfRun, until: AbortSignal): Promise<void> {
    if (known.isCatalogRedacted && ports.redactedBy !== catalog && !isMaskingKnown) {
      isMaskingKnown = true
      warn(MASKING, { catalog })
    }
    return archiveRun(run, { ...ports, catalog, history: engine.history }, known, until)
  }

  function warnUnlessStopping(message: string, fields: { error: unknown }): void {
    if (!signal.aborted) warn(message, fields)
  }

  const scanner = createScanner({
    connection,
    namespace,
    activity: { id: archiverId(catalog), type: ARCHIVER_TYPE },
    engine,
    handle: archive,
    messages: MESSAGES,
    warn,
    pollMs,
  })

  try {
    await checkDestinations(ports, signal, warnUnlessStopping)
    if (await engine.hasStandaloneActivities(signal)) await scanner.runWorker(signal)
    else await scanner.scan(signal)
  } catch (error) {
    warnUnlessStopping('This process does not archive traces', { error })
  }
}

const MASKING =
  'The workers of this catalog redact values, but this process does not have their redact: it archives [redacted] instead'

const MESSAGES = {
  failed: 'A trace could not be archived; will retry',
  interrupted: 'The trace archiver was interrupted; will retry',
  notStarted: 'The trace archiver could not be started; will retry',
}

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
