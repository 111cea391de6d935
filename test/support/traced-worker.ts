/** The worker of `test/worker/fixtures/traced-worker.ts` as a process of its own. */

import { bundleWorkflows, startWorkerProcess } from '../../dev/servers/traced-worker.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'

const ENTRY = new URL('../worker/fixtures/traced-worker.ts', import.meta.url)
const WORKFLOWS = new URL('../worker/fixtures/traced-workflows.ts', import.meta.url)

/** Writes the bundle that all traced workers share into `folder` and returns its path, for `WORKFLOW_BUNDLE`. */
export function bundleTraced(folder: string): Promise<string> {
  return bundleWorkflows(WORKFLOWS, folder)
}

/** Resolves when the worker's log says that it is ready. */
export function startTracedWorker(env: Record<string, string>): Promise<RunningProcess> {
  return startWorkerProcess(ENTRY, env)
}
