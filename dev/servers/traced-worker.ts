/** A worker with traces as a process of its own, and what it has stored. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { type RunningProcess, startProcess } from './process.ts'
import type { RunningRedis } from './redis.ts'
import type { RunningS3 } from './s3.ts'
import { until } from './until.ts'

const ENTRY = fileURLToPath(new URL('../../test/worker/fixtures/traced-worker.ts', import.meta.url))
const WORKFLOWS = fileURLToPath(new URL('../../test/worker/fixtures/traced-workflows.ts', import.meta.url))

/** Makes the bundle that all traced workers share; its path. */
export async function bundleTraced(folder: string): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR', () => {}) })
  const path = join(folder, 'bundle.js')
  await writeFile(path, code)
  return path
}

/** What a worker needs to put its traces there. */
export function tracedEnv(
  { url }: Pick<RunningRedis, 'url'>,
  s3: Omit<RunningS3, 'client' | 'stop'>,
): Record<string, string> {
  return {
    SERVICE_TRACE_REMOTE_ON: 'true',
    SERVICE_KVSTORE_URL: url,
    SERVICE_STORAGE_BUCKET: s3.bucket,
    SERVICE_STORAGE_ENDPOINT: s3.endpoint,
    SERVICE_STORAGE_REGION: s3.region,
    SERVICE_STORAGE_ACCESS_KEY_ID: s3.accessKeyId,
    SERVICE_STORAGE_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
}

/** Resolves when it takes tasks. */
export async function startTracedWorker(env: Record<string, string>): Promise<RunningProcess> {
  const worker = await startProcess({
    command: process.execPath,
    args: [ENTRY],
    env: { PATH: process.env.PATH, ...env },
  })
  const died = new AbortController()
  void worker.ended.then(() => died.abort(new Error(`The worker ended:\n${worker.output()}`)))
  await until('the worker is ready', () => worker.output().includes('Worker ready'), {
    timeoutMs: 60_000,
    signal: died.signal,
  })
  return worker
}
