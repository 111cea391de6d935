/** Stores that are down, slow, wrong: the workflows end as they would have, and what can be stored later is. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import type { TraceEntry } from '../../src/protocol/trace-entry.ts'
import { spansKey } from '../../src/protocol/trace-keys.ts'
import { toTraceTree } from '../../src/protocol/trace-tree.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import type { RunningProcess } from '../support/process.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startRclone } from '../support/s3.ts'
import { startS3Proxy } from '../support/s3-proxy.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { bundleTraced, startTracedWorker, storedTrace, tracedEnv, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'
import { startUpstash } from '../support/upstash.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {}, talking: {}, ticking: {} })

let folder: string
let redis: RunningRedis
let s3: RunningS3
let connection: Connection
let client: Client
let bundle: string
const processes: RunningProcess[] = []
const workers: TestWorker[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-trouble-'))
  const stores = await Promise.all([startRedis(), startRclone(), bundleTraced(folder)])
  ;[redis, s3, bundle] = stores
  connection = await Connection.connect({ address: inject('engine').address })
  client = new Client({ connection })
})

afterEach(async () => {
  await Promise.all([...processes.splice(0).map((worker) => worker.kill()), ...workers.splice(0).map((worker) => worker.stop())])
})

afterAll(async () => {
  await redis?.kill()
  await s3?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('traces: a key-value store that is down costs the workflows nothing', async () => {
  const taskQueue = await startInside({ kvstore: { url: 'redis://127.0.0.1:1', token: null } })

  expect(await completeMany(taskQueue)).toEqual(Array(20).fill('the end'))
})

test('traces: stores that never answer cost the workflows nothing', async () => {
  const silent = await startTcpProxy(s3.endpoint.slice('http://'.length), { latencyMs: Number.POSITIVE_INFINITY })
  const taskQueue = await startInside({ kvstore: { url: `redis://${silent.address}`, token: null }, endpoint: `http://${silent.address}` })

  const startedAt = Date.now()
  expect(await completeMany(taskQueue)).toEqual(Array(20).fill('the end'))

  // Less than the first answer of any of them is waited for.
  expect(Date.now() - startedAt).toBeLessThan(5000)
  await silent.close()
})

test('traces: a Redis that loses everything and comes back is no concern of the workflows, and later runs are stored', async () => {
  const own = await startRedis()
  const taskQueue = await startInside({ kvstore: { url: own.url, token: null } })
  const handle = await client.workflow.start('story', { workflowId: `${taskQueue}-1`, taskQueue, args: [{ end: 'complete' }] })
  await own.kill()
  expect(await handle.result()).toBe('the end')
  const back = await own.restart()

  const later = await client.workflow.start('story', { workflowId: `${taskQueue}-2`, taskQueue, args: [{ end: 'complete' }] })
  expect(await later.result()).toBe('the end')

  const { entries } = await until('the later one is stored', () => storedTrace(s3, `${taskQueue}-2`), { timeoutMs: 20_000 })
  expect(entries.some(({ kind }) => kind === 'llm')).toBe(true)
  await back.kill()
})

test('traces: what a killed worker could not store is stored by one that comes back after an hour', async () => {
  const taskQueue = `trouble-${crypto.randomUUID()}`
  const env = { ...tracedEnv(redis, s3), SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: inject('engine').address, WORKFLOW_BUNDLE: bundle }
  const first = await startTracedWorker({ ...env, SERVICE_STORAGE_SECRET_ACCESS_KEY: 'a-wrong-secret-key' })
  processes.push(first)
  const [done, open, ticking] = await Promise.all([
    client.workflow.start('story', { workflowId: `${taskQueue}-done`, taskQueue, args: [{ end: 'complete' }] }),
    client.workflow.start('story', { workflowId: `${taskQueue}-open`, taskQueue, args: [{ end: 'open' }] }),
    client.workflow.start('ticking', { workflowId: `${taskQueue}-ticking`, taskQueue, args: [{ ms: 60_000 }] }),
  ])
  await done.result()
  await until('the wrong credentials are said', () => first.output().includes('look at the SERVICE_STORAGE_ credentials'))
  await until('spans are in the store', async () => (await spansOf(open.firstExecutionRunId)).length === 4)
  await until('it ticks', async () => (await spansOf(ticking.firstExecutionRunId)).length > 40)
  const killedAt = Date.now()
  await first.kill()
  const last = JSON.parse((await spansOf(ticking.firstExecutionRunId)).at(-1) ?? '{}')
  await Promise.all([open.terminate('nobody is there'), ticking.terminate()])
  await anHourGoesBy(taskQueue)

  processes.push(await startTracedWorker(env))
  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 20_000 })

  // A killed process loses its last second at most.
  expect(killedAt - last.at).toBeLessThan(1000)
  expect(first.output().split('A trace could not be stored').length - 1).toBe(1)
  const stored = await Promise.all([done, open, ticking].map(({ workflowId }) => storedTrace(s3, workflowId)))
  expect(stored.map(({ entries }) => statusOf(entries))).toEqual(['completed', 'terminated', 'terminated'])
  expect(stored.slice(0, 2).map(({ entries }) => entries.filter(({ id }) => id.includes(':span:')).length)).toEqual([4, 4])
}, 60_000)

test('traces: a bucket that is missing is said once, and the trace waits in the store until it is there', async () => {
  const taskQueue = `trouble-${crypto.randomUUID()}`
  const env = { ...tracedEnv(redis, s3), SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: inject('engine').address, WORKFLOW_BUNDLE: bundle }
  const first = await startTracedWorker({ ...env, SERVICE_STORAGE_BUCKET: 'no-such-bucket' })
  processes.push(first)

  expect(await completeMany(taskQueue)).toEqual(Array(20).fill('the end'))
  await until('it is said', () => first.output().includes('A trace could not be stored'))
  await first.kill()
  await anHourGoesBy(taskQueue)
  processes.push(await startTracedWorker(env))
  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 20_000 })

  expect(first.output().split('A trace could not be stored').length - 1).toBe(1)
  expect(statusOf((await storedTrace(s3, `${taskQueue}-0`)).entries)).toBe('completed')
}, 60_000)

test('traces: a worker that ends while its store is out of reach says what it drops, and its process ends', async () => {
  const taskQueue = `trouble-${crypto.randomUUID()}`
  const way = await startTcpProxy(`127.0.0.1:${redis.port}`)
  const url = redis.url.replace(`127.0.0.1:${redis.port}`, way.address)
  const env = {
    ...tracedEnv({ url }, s3),
    SERVICE_CATALOG_ID: taskQueue,
    ENGINE_ADDRESS: inject('engine').address,
    WORKFLOW_BUNDLE: bundle,
  }
  const worker = await startTracedWorker(env)
  processes.push(worker)
  way.interrupt()
  const workflowIds = Array.from({ length: 20 }, (_, index) => `${taskQueue}-${index}`)
  await Promise.all(
    workflowIds.map((workflowId) => client.workflow.execute('story', { workflowId, taskQueue, args: [{ end: 'complete' }] })),
  )

  const beganAt = Date.now()
  const { code } = await worker.stop(30_000)

  expect(code).toBe(0)
  expect(Date.now() - beganAt).toBeLessThan(15_000)
  expect(worker.output()).toMatch(/The worker ends[\s\S]*dropped: 80/)
  await way.close()
}, 60_000)

test('traces: a trace is stored when its root ends, not at the end of each child', async () => {
  const proxy = await startS3Proxy(s3.endpoint)
  const taskQueue = await startInside({ kvstore: { url: redis.url, token: null }, endpoint: proxy.endpoint })
  const run = await client.workflow.start('story', {
    workflowId: taskQueue,
    taskQueue,
    args: [{ end: 'complete', children: 3, afterMs: 2500 }],
  })
  await run.result()

  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0)

  const { entries } = await storedTrace(s3, taskQueue)
  expect(proxy.asked.filter((request) => request.startsWith('PUT'))).toHaveLength(1)
  expect(entries.filter(({ id, phase }) => id.includes(':span:') && phase === 'ended')).toHaveLength(8)
  await workers.pop()?.stop()
  await proxy.close()
})

test('traces: over Upstash’s REST the same is stored, and nothing is left', async () => {
  const upstash = await startUpstash(redis.url)
  const taskQueue = await startInside({ kvstore: upstash })
  const plan = { end: 'complete', links: 2, children: 1 }
  await (await client.workflow.start('story', { workflowId: taskQueue, taskQueue, args: [plan] })).result()

  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 20_000 })

  const { entries } = await storedTrace(s3, taskQueue)
  // Two links and two children, each with a step of two spans.
  expect(entries.filter(({ id, phase }) => id.includes(':span:') && phase === 'ended')).toHaveLength(8)
  expect(toTraceTree(entries)).toMatchObject({ attributes: { status: 'completed' }, children: [{}, {}] })
  await workers.pop()?.stop()
  await upstash.close()
})

test('traces: of more spans than a trace may hold those that fit are stored with a mark, and nothing is left', async () => {
  const taskQueue = await startInside({ kvstore: { url: redis.url, token: null } })
  const options = { workflowId: taskQueue, taskQueue, args: [{ times: 30 }] }
  const run = await client.workflow.start('talking', options)
  await run.result()

  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 20_000 })

  const { entries } = await storedTrace(s3, taskQueue)
  expect(entries.filter(({ kind, phase }) => kind === 'llm' && phase === 'ended').length).toBeGreaterThan(5)
  expect(toTraceTree(entries)).toMatchObject({ id: run.firstExecutionRunId, attributes: { truncated: true, status: 'completed' } })
})

/** A worker in this process; its task queue. */
async function startInside({
  kvstore,
  endpoint = s3.endpoint,
}: {
  kvstore: { url: string; token: string | null }
  endpoint?: string
}): Promise<string> {
  const { bucket, region, accessKeyId, secretAccessKey } = s3
  const storage = { bucket, region, accessKeyId, secretAccessKey, endpoint }
  const plugin = porticoPlugin({ catalog, traces: { remote: { storage, kvstore }, local: null, maxBytes: 1 << 20 } })
  const taskQueue = `trouble-${crypto.randomUUID()}`
  const { address } = inject('engine')
  workers.push(await startWorker({ address, taskQueue, activities, workflowsPath, options: { plugins: [plugin] } }))
  return taskQueue
}

function statusOf(entries: TraceEntry[]): unknown {
  return entries.find(({ kind, phase }) => kind === 'workflow' && phase === 'ended')?.attributes?.status
}

function completeMany(taskQueue: string): Promise<unknown[]> {
  const runs = Array.from({ length: 20 }, (_, index) => `${taskQueue}-${index}`)
  return Promise.all(runs.map((workflowId) => client.workflow.execute('story', { workflowId, taskQueue, args: [{ end: 'complete' }] })))
}

async function spansOf(runId: string): Promise<string[]> {
  const store = new Redis(redis.url)
  return store.lrange(spansKey(runId), 0, -1).finally(() => store.disconnect())
}

/** The store's clock decides what is due; it can't be moved, but what it is compared with can. */
async function anHourGoesBy(taskQueue: string): Promise<void> {
  const store = new Redis(redis.url)
  const outbox = `traces:open:default:${taskQueue}`
  for (const member of await store.zrange(outbox, '0', '-1')) await store.call('ZINCRBY', outbox, '-3600000', member)
  store.disconnect()
}
