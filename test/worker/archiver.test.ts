/** Where traces are archived, and that an unavailable store affects nothing else. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@temporalio/client'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { RunningS3 } from '../../dev/servers/s3.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { WorkerTraces } from '../../src/shared/config/worker.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { createWarnings } from '../../src/worker/tracing/rate-limited-warnings.ts'
import { type TracedWorkerOptions, test, testWithOwnEngine } from '../support/fixtures.ts'
import type { TestWorker } from '../support/worker.ts'
import { startStory } from './fixtures/start-story.ts'
import * as activities from './fixtures/traced-activities.ts'
import { startArchiver } from './start-archiver.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {} })

const testWithoutStandaloneActivities = testWithOwnEngine({ dynamicConfig: { 'activity.enableStandalone': false } })

test('archiver: a missing bucket does not affect the folder, and receives its objects once it exists (failure 24)', async ({
  client,
  startTracedWorker,
  s3,
  folder,
}) => {
  const storage = { ...storageOf(s3), bucket: 'not-there-yet' }
  const { runId } = await runOnce(
    { client, startTracedWorker },
    {
      remote: { storage, kvstore: null },
      local: { directory: folder, writes: true },
      maxBytes: 1 << 20,
    },
  )

  await until('the file is there', () => fileOf(folder, runId))
  expect(await objectOf(s3, 'not-there-yet', runId)).toBe(404)
  await s3.client.fetch(`${s3.endpoint}/not-there-yet`, { method: 'PUT' })

  await until('the object is there', async () => (await objectOf(s3, 'not-there-yet', runId)) === 200, {
    timeoutMs: 90_000,
    everyMs: 500,
  })
})

test('archiver: a folder that cannot be written to does not affect the bucket', async ({
  client,
  startTracedWorker,
  s3,
  folder,
}) => {
  const inTheWay = join(folder, 'in-the-way')
  await writeFile(inTheWay, '')
  const local = { directory: join(inTheWay, 'below'), writes: true }
  const { runId } = await runOnce(
    { client, startTracedWorker },
    { remote: { storage: storageOf(s3), kvstore: null }, local, maxBytes: 1 << 20 },
  )

  await until('the object is there', async () => (await objectOf(s3, s3.bucket, runId)) === 200)
})

testWithoutStandaloneActivities(
  'archiver: archives without standalone activities too',
  async ({ client, startTracedWorker, folder }) => {
    const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
    const { runId } = await runOnce({ client, startTracedWorker }, traces)

    await until('the file is there', () => fileOf(folder, runId))
  },
)

test('archiver: `portico archive` archives a task queue without a Portico worker', async ({
  engine: { address },
  client,
  catalog: taskQueue,
  startWorker,
  redis,
  s3,
  cleanup,
}) => {
  await startWorker({ activities, workflowsPath })
  const archiver = await startArchiver(cleanup, taskQueue, { ENGINE_ADDRESS: address, ...tracedEnv(redis, s3) })
  await until('it archives', () => archiver.output().includes('Archiving traces'))
  const handle = await startStory(client, taskQueue)
  // A worker in any language adds a span with two Redis commands.
  const runId = handle.firstExecutionRunId
  const span = {
    id: `${runId}:span:a`,
    parentId: `${runId}:step:1`,
    kind: 'llm',
    name: 'from elsewhere',
    at: Date.now(),
    phase: 'began',
  }
  const store = new Redis(redis.url)
  await store.rpush(`spans:default:${runId}`, JSON.stringify(span))
  await store.pexpire(`spans:default:${runId}`, 2_592_000_000)
  await handle.result()

  await until('the object is there', async () => (await objectOf(s3, s3.bucket, runId)) === 200)
  await until('its spans are archived', async () => (await store.exists(`spans:default:${runId}`)) === 0)
  store.disconnect()
  const stored = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/traces/default/${runId}.json`)
  expect(await stored.text()).toContain('from elsewhere')
  process.kill(archiver.pid, 'SIGTERM')
  expect(await archiver.ended).toMatchObject({ code: 0 })
})

test('archiver: `portico archive` without a destination fails and names the variables', async ({ cleanup }) => {
  const archiver = await startArchiver(cleanup, 'queue', {})

  expect(await archiver.ended).toMatchObject({ code: 1 })
  expect(archiver.output()).toContain('set SERVICE_TRACE_REMOTE_ON=true or SERVICE_TRACE_LOCAL_ON=true')
})

test('archiver: stores that hang prevent neither a run nor a shutdown (failure 24)', async ({
  client,
  startTracedWorker,
  redis,
  s3,
}) => {
  const proxies = await Promise.all(
    [`127.0.0.1:${redis.port}`, s3.endpoint.slice('http://'.length)].map((to) =>
      startTcpProxy(to, { latencyMs: Number.POSITIVE_INFINITY }),
    ),
  )
  const [toRedis, toS3] = proxies.map(({ address }) => address)
  const kvstore = { url: redis.url.replace(`127.0.0.1:${redis.port}`, String(toRedis)), token: null }
  const storage = { ...storageOf(s3), endpoint: `http://${toS3}` }
  const { stop } = await runOnce(
    { client, startTracedWorker },
    { remote: { storage, kvstore }, local: null, maxBytes: 1 << 20 },
  )

  await stop()

  await Promise.all(proxies.map((proxy) => proxy.close()))
})

test('archiver: warns at startup about a bucket that does not exist, with its name', async ({ s3 }) => {
  const messages: string[] = []
  const { checkDestinations } = await import('../../src/worker/closed-runs/archive/archiver-worker.ts')
  const { traceDestinations } = await import('../../src/worker/closed-runs/archive/destinations.ts')
  const { warn } = createWarnings({ warn: (message, fields) => void messages.push(`${message} ${fields?.error}`) })
  const storage = { ...storageOf(s3), bucket: 'wrong-bucket' }

  await checkDestinations(
    { destinations: traceDestinations({ remote: { storage, kvstore: null }, local: null, maxBytes: 1 }) },
    new AbortController().signal,
    warn,
  )

  expect(messages).toEqual([
    expect.stringMatching(/^Traces cannot be written to bucket wrong-bucket.*404 NoSuchBucket/),
  ])
})

function storageOf({ accessKeyId, secretAccessKey, region, bucket, endpoint }: RunningS3) {
  return { accessKeyId, secretAccessKey, region, bucket, endpoint }
}

interface Fixtures {
  client: Client
  startTracedWorker(options: TracedWorkerOptions): Promise<TestWorker>
}

/** Runs the workflow `story` on a traced worker of its own. */
async function runOnce({ client, startTracedWorker }: Fixtures, traces: WorkerTraces) {
  const taskQueue = `once-${crypto.randomUUID()}`
  const worker = await startTracedWorker({ plugin: { catalog, traces }, taskQueue, activities, workflowsPath })
  const handle = await startStory(client, taskQueue)
  expect(await handle.result()).toBe('the end')
  return { runId: handle.firstExecutionRunId, stop: () => worker.stop() }
}

/** The status code for the run's object. */
async function objectOf(s3: RunningS3, bucket: string, runId: string): Promise<number> {
  const response = await s3.client.fetch(`${s3.endpoint}/${bucket}/traces/default/${runId}.json`)
  await response.body?.cancel()
  return response.status
}

function fileOf(folder: string, runId: string): Promise<string | null> {
  return readFile(join(folder, 'default', `${runId}.json`), 'utf8').catch(() => null)
}
