/** A worker with traces as a process of its own, and what it has stored. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Connection } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { Redis } from 'ioredis'
import { createHistoryReader } from '../../src/engine/history.ts'
import { createPayloads } from '../../src/engine/payload.ts'
import { parseTraceDocument, type TraceDocument } from '../../src/protocol/trace-document.ts'
import type { TraceEntry } from '../../src/protocol/trace-entry.ts'
import { walkRuns } from '../../src/protocol/trace-walk.ts'
import { type RunningProcess, startProcess } from './process.ts'
import type { RunningRedis } from './redis.ts'
import type { RunningS3 } from './s3.ts'
import { until } from './until.ts'

const ENTRY = fileURLToPath(new URL('../worker/fixtures/traced-worker.ts', import.meta.url))
const WORKFLOWS = fileURLToPath(new URL('../worker/fixtures/traced-workflows.ts', import.meta.url))

/** Makes the bundle that all traced workers share; its path. */
export async function bundleTraced(folder: string): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR', () => {}) })
  const path = join(folder, 'bundle.js')
  await writeFile(path, code)
  return path
}

/** What a worker needs to put its traces there. */
export function tracedEnv({ url }: Pick<RunningRedis, 'url'>, s3: Omit<RunningS3, 'client' | 'stop'>): Record<string, string> {
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
  const worker = await startProcess({ command: process.execPath, args: [ENTRY], env: { PATH: process.env.PATH, ...env } })
  const died = new AbortController()
  void worker.ended.then(() => died.abort(new Error(`The worker ended:\n${worker.output()}`)))
  await until('the worker is ready', () => worker.output().includes('Worker ready'), { timeoutMs: 60_000, signal: died.signal })
  return worker
}

/** The keys that hold traces, and nothing is left of them when all are stored. */
export async function traceKeys({ url }: Pick<RunningRedis, 'url'>): Promise<string[]> {
  const redis = new Redis(url)
  try {
    return await redis.keys('traces:*')
  } finally {
    redis.disconnect()
  }
}

/** The keys of the objects that are traces. */
export async function objectKeys({ client, endpoint, bucket }: RunningS3): Promise<string[]> {
  const response = await client.fetch(`${endpoint}/${bucket}?list-type=2&prefix=traces/&max-keys=1000`)
  return [...(await response.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
}

export async function storedTrace(s3: RunningS3, workflowId: string): Promise<TraceDocument> {
  const key = (await objectKeys(s3)).find((name) => name.startsWith(`traces/${workflowId}_`))
  if (key === undefined) throw new Error(`no object of ${workflowId}`)
  const response = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/${key.split('/').map(encodeURIComponent).join('/')}`)
  return parseTraceDocument(await response.text()).found
}

/** What the engine's own history tells of the run, its chain and its children. */
export async function toldByHistory({ workflowService }: Connection, namespace: string, run: { workflowId: string; runId: string }) {
  const payloads = createPayloads({ codec: null, maxBytes: Number.POSITIVE_INFINITY })
  async function* read(execution: { workflowId: string; runId: string }): AsyncGenerator<TraceEntry> {
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution })
    yield* await createHistoryReader(execution, payloads).entriesOf(history?.events ?? [])
  }
  return walkRuns(run, { read, firstRunId: run.runId, maxRuns: 100, maxBytes: 1 << 25 })
}
