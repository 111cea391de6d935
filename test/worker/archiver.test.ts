/** Where traces are archived, and what a store that is away keeps from happening: nothing else. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startEngine } from '../../dev/servers/engine.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { type RunningS3, startRclone } from '../../dev/servers/s3.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { until } from '../../dev/servers/until.ts'
import type { WorkerTraces } from '../../src/config/worker.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { createWarnings } from '../../src/worker/tracing/rate-limited-warnings.ts'
import { startWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {} })

let folder: string
let s3: RunningS3
let redis: RunningRedis
let connection: Connection

beforeAll(async () => {
  ;[folder, s3, redis] = await Promise.all([mkdtemp(join(tmpdir(), 'portico-archiver-')), startRclone(), startRedis()])
  connection = await Connection.connect({ address: inject('engine').address })
})

afterAll(async () => {
  await connection?.close()
  await Promise.all([s3?.stop(), redis?.kill()])
  await rm(folder, { recursive: true, force: true })
})

test('archiver: a missing bucket keeps no file from being written, and has its objects once it is there', async () => {
  const storage = { ...storageOf(s3), bucket: 'not-there-yet' }
  const { runId, stop } = await runOnce({
    remote: { storage, kvstore: null },
    local: { directory: folder, writes: true },
    maxBytes: 1 << 20,
  })

  await until('the file is there', () => fileOf(runId), { timeoutMs: 20_000 })
  expect(await objectOf('not-there-yet', runId)).toBe(404)
  await s3.client.fetch(`${s3.endpoint}/not-there-yet`, { method: 'PUT' })

  await until('the object is there', async () => (await objectOf('not-there-yet', runId)) === 200, {
    timeoutMs: 90_000,
    everyMs: 500,
  })
  await stop()
}, 150_000)

test('archiver: a folder that cannot be written to keeps no object from being written', async () => {
  const inTheWay = join(folder, 'in-the-way')
  await writeFile(inTheWay, '')
  const local = { directory: join(inTheWay, 'below'), writes: true }
  const { runId, stop } = await runOnce({ remote: { storage: storageOf(s3), kvstore: null }, local, maxBytes: 1 << 20 })

  await until('the object is there', async () => (await objectOf(s3.bucket, runId)) === 200, { timeoutMs: 20_000 })
  await stop()
})

test('archiver: on an engine without standalone activities every worker archives by itself', async () => {
  const engine = await startEngine({ dynamicConfig: { 'activity.enableStandalone': false } })
  const own = await Connection.connect({ address: engine.address })
  const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
  const { runId, stop } = await runOnce(traces, { address: engine.address, connection: own })

  await until('the file is there', () => fileOf(runId), { timeoutMs: 20_000 })
  await stop()
  await own.close()
  await engine.stop()
}, 60_000)

test('archiver: `portico archive` serves task queues without any worker of the kit', async () => {
  const { address } = inject('engine')
  const taskQueue = `kitless-${crypto.randomUUID()}`
  const worker = await startWorker({ address, taskQueue, activities, workflowsPath })
  const command = {
    command: process.execPath,
    args: [fileURLToPath(new URL('./fixtures/archiver.ts', import.meta.url)), taskQueue],
  }
  const archiver = await startProcess({
    ...command,
    env: { PATH: process.env.PATH, ENGINE_ADDRESS: address, ...tracedEnv(redis, s3) },
  })
  await until('it archives', () => archiver.output().includes('Archiving traces'), { timeoutMs: 20_000 })
  const handle = await new Client({ connection }).workflow.start('story', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ end: 'complete' }],
  })
  // What a worker in any language does: two commands.
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

  await until('the object is there', async () => (await objectOf(s3.bucket, runId)) === 200, { timeoutMs: 30_000 })
  await until('its spans are archived', async () => (await store.exists(`spans:default:${runId}`)) === 0, {
    timeoutMs: 30_000,
  })
  store.disconnect()
  const stored = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/traces/default/${runId}.json`)
  expect(await stored.text()).toContain('from elsewhere')
  expect(await archiver.stop(5000)).toMatchObject({ code: 0 })
  await worker.stop()
}, 60_000)

test('archiver: `portico archive` without a place for traces says so', async () => {
  const args = [fileURLToPath(new URL('./fixtures/archiver.ts', import.meta.url)), 'queue']
  const archiver = await startProcess({ command: process.execPath, args, env: { PATH: process.env.PATH } })

  expect(await archiver.ended).toMatchObject({ code: 1 })
  expect(archiver.output()).toContain('set SERVICE_TRACE_REMOTE_ON=true or SERVICE_TRACE_LOCAL_ON=true')
})

test('archiver: stores that hang delay neither a run nor a shutdown beyond two seconds', async () => {
  const ways = await Promise.all(
    [`127.0.0.1:${redis.port}`, s3.endpoint.slice('http://'.length)].map((to) =>
      startTcpProxy(to, { latencyMs: Number.POSITIVE_INFINITY }),
    ),
  )
  const [toRedis, toS3] = ways.map(({ address }) => address)
  const kvstore = { url: redis.url.replace(`127.0.0.1:${redis.port}`, String(toRedis)), token: null }
  const storage = { ...storageOf(s3), endpoint: `http://${toS3}` }
  const { stop } = await runOnce({ remote: { storage, kvstore }, local: null, maxBytes: 1 << 20 })

  const beganAt = performance.now()
  await stop()

  // Two seconds for the traces, and the rest for the worker itself.
  expect(performance.now() - beganAt).toBeLessThan(5000)
  await Promise.all(ways.map((way) => way.close()))
})

test('archiver: a bucket that cannot be used is warned of at the start, by its name', async () => {
  const messages: string[] = []
  const { checkDestinations } = await import('../../src/worker/archive/archiver-worker.ts')
  const { traceDestinations } = await import('../../src/worker/archive/destinations.ts')
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

/** One run on a traced worker of its own. */
async function runOnce(traces: WorkerTraces, { address = inject('engine').address, connection: to = connection } = {}) {
  const taskQueue = `once-${crypto.randomUUID()}`
  const worker = await startWorker({
    address,
    taskQueue,
    activities,
    workflowsPath,
    options: { plugins: [porticoPlugin({ catalog, traces })] },
  })
  const handle = await new Client({ connection: to }).workflow.start('story', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ end: 'complete' }],
  })
  expect(await handle.result()).toBe('the end')
  return { runId: handle.firstExecutionRunId, stop: () => worker.stop() }
}

async function objectOf(bucket: string, runId: string): Promise<number> {
  const response = await s3.client.fetch(`${s3.endpoint}/${bucket}/traces/default/${runId}.json`)
  await response.body?.cancel()
  return response.status
}

function fileOf(runId: string): Promise<string | null> {
  return readFile(join(folder, 'default', `${runId}.json`), 'utf8').catch(() => null)
}
