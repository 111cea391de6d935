/** Workers for standalone activities, which run beside the user's worker and hand over to another process with it. */
import { Worker, type WorkerOptions } from '@temporalio/worker'
import { unlessAborted } from '../../shared/lib/abort.ts'

// Bounds the shutdown of the user's worker, which waits for this one.
const SHUTDOWN_FORCE_TIME = '1500ms'

/** Runs a worker until `signal` aborts. */
export async function runActivities(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const worker = await Worker.create({
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
    shutdownForceTime: SHUTDOWN_FORCE_TIME,
    ...options,
  })
  const running = worker.run()
  await unlessAborted(running, signal).catch(() => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
  })
  await running
}

// An optional peer dependency that workers without traces and webhooks need not install.
export const loadActivitySdk = (): Promise<typeof import('@temporalio/activity')> => import('@temporalio/activity')

/**
 * The error of an attempt with which the activity starts on another worker at once, not after the retry interval. The
 * SDK logs no warning about it: whoever presses Ctrl-C has caused it.
 */
export async function handOver(): Promise<Error> {
  const { ApplicationFailure } = await loadActivitySdk()
  const message = 'This worker is shutting down'
  return ApplicationFailure.create({ message, nextRetryDelay: '100ms', category: 'BENIGN' })
}
