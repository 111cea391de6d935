/** A worker that writes traces, as a child process. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startProcess } from './process.ts'
import type { RunningRedis } from './redis.ts'
import { type RunningS3, storageEnv } from './s3.ts'
import { ensureWorkflowBundle } from './workflow-bundle.ts'

/**
 * Writes the bundle of a file of workflows into `folder` and returns its path. Bundling takes seconds;
 * workers share the file.
 */
export async function bundleWorkflows(workflows: URL, folder: string): Promise<string> {
  const { code } = await ensureWorkflowBundle(workflows)
  const path = join(folder, 'bundle.js')
  await writeFile(path, code)
  return path
}

/** The variables that make a worker write its traces to this Redis and this bucket. */
export function tracedEnv(
  { url }: Pick<RunningRedis, 'url'>,
  s3: Omit<RunningS3, 'client' | 'stop'>,
): Record<string, string> {
  return { SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_KVSTORE_URL: url, ...storageEnv(s3) }
}

/** Runs `entry`. Resolves when the worker's log says that it is ready. */
export async function startWorkerProcess(entry: URL, env: Record<string, string>): Promise<RunningProcess> {
  const worker = await startProcess({
    command: process.execPath,
    args: [fileURLToPath(entry)],
    env: { PATH: process.env.PATH, ...env },
  })
  await until('the worker is ready', () => worker.output().includes('Worker ready'), {
    signal: exitSignal(worker, 'The worker'),
  })
  return worker
}
