/** A Temporal worker in the test's process, with the workflows of `workflows.ts` unless a test brings its own. */
import { type RunningWorker, type RunWorkerOptions, startWorker as start } from '../../dev/servers/worker.ts'
import * as activities from './activities.ts'

export type TestWorker = RunningWorker

export interface TestWorkerOptions extends Omit<RunWorkerOptions, 'workflowsPath'> {
  /** Default: `test/support/workflows.ts`. */
  workflowsPath?: URL
}

const TEST_WORKFLOWS = new URL('./workflows.ts', import.meta.url)

/** Resolves when the engine reports a poller of the task queue, and the catalog, if any, is published. */
export function startWorker({ options, ...rest }: TestWorkerOptions): Promise<TestWorker> {
  // In debug mode workflows run in the thread of the worker.
  // A thread of their own takes half a second of CPU time to start.
  // By default heartbeats are sent after 80 % of their timeout, so that a short stall is taken for a lost worker.
  const defaults = { debugMode: true, maxHeartbeatThrottleInterval: '1s' } as const
  return start({ workflowsPath: TEST_WORKFLOWS, activities, ...rest, options: { ...defaults, ...options } })
}
