/** An engine that answers next to no question about its index: the API asks none, and a worker's tracing can do without. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outboxKey } from '../../src/protocol/trace-keys.ts'
import { type Api, makeApi } from '../support/api.ts'
import { type RunningEngine, startEngine } from '../support/engine.ts'
import type { RunningProcess } from '../support/process.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startRclone } from '../support/s3.ts'
import { type Served, serve } from '../support/serve.ts'
import { bundleTraced, startTracedWorker, storedTrace, tracedEnv } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'

const CATALOG = 'unlisted'

let folder: string
let engine: RunningEngine
let redis: RunningRedis
let s3: RunningS3
let connection: Connection
let served: Served
let api: Api
let env: Record<string, string>
let hurry: NodeJS.Timeout | undefined
const workers: RunningProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-visibility-'))
  const dynamicConfig = { 'frontend.namespaceRPS.visibility': 1, 'frontend.namespaceBurstRatio.visibility': 1 }
  const [bundle, ...started] = await Promise.all([bundleTraced(folder), startEngine({ dynamicConfig }), startRedis(), startRclone()])
  ;[engine, redis, s3] = started
  // The client's own retries would slow the hurry down.
  connection = await Connection.connect({ address: engine.address, interceptors: [] })
  served = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: CATALOG, ...tracedEnv(redis, s3) })
  api = makeApi(served)
  env = { ...tracedEnv(redis, s3), SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address, WORKFLOW_BUNDLE: bundle }
})

afterAll(async () => {
  clearInterval(hurry)
  await Promise.all(workers.map((worker) => worker.kill()))
  await served?.close()
  await connection?.close()
  await s3?.stop()
  await redis?.kill()
  await engine?.kill()
  await rm(folder, { recursive: true, force: true })
})

async function startWorkerProcess(): Promise<RunningProcess> {
  const worker = await startTracedWorker(env)
  workers.push(worker)
  return worker
}

/** Others ask for fifty lists a second, and get one; resolves when the first was refused. */
async function takeAllLists(): Promise<void> {
  let refused = 0
  const list = () => connection.workflowService.listWorkflowExecutions({ namespace: 'default', pageSize: 1 }).catch(() => refused++)
  hurry = setInterval(list, 20)
  await until('a list is refused', () => refused > 0)
}

/** As if an hour had gone by: each root in the outbox is looked after by the next sweep. */
async function makeDue(): Promise<void> {
  const store = new Redis(redis.url)
  const outbox = outboxKey('default', CATALOG)
  for (const member of await store.zrange(outbox, '0', '-1')) await store.call('ZINCRBY', outbox, '-3600000', member)
  store.disconnect()
}

/** A run in its middle, with spans that wait in the store. */
async function startStory(): Promise<string> {
  const { body } = await api.call('POST', '/workflow/start', { workflowName: 'story', input: { end: 'open' } })
  await until('its spans are in the store', async () => {
    const { body: trace } = await api.call('GET', `/workflow/${body.workflowId}/trace-log`)
    return trace.source === 'kvstore' && JSON.stringify(trace.data).includes('"llm"')
  })
  return body.workflowId
}

test('visibility rate: the catalog is found, a run runs, and a trace that was left behind is stored', async () => {
  const first = await startWorkerProcess()
  const [ended, open] = await Promise.all([startStory(), startStory()])
  await first.kill()
  await api.call('POST', `/workflow/${ended}/terminate`)
  await makeDue()

  await takeAllLists()
  const second = await startWorkerProcess()
  const ran = await api.call('POST', '/workflow/run', { workflowName: 'story', input: { end: 'complete' } })
  const catalog = await api.call('GET', '/workflow/catalog')
  const isRefused = () => second.output().includes("Which runs are open can't be told")
  // By chance a sweep may be the one a second that is answered: then the next one asks again about the run that is open.
  await until('the refusal is said', async () => isRefused() || makeDue().then(isRefused), { timeoutMs: 50_000, everyMs: 500 })
  const { entries } = await until('the trace is stored', () => storedTrace(s3, ended), { timeoutMs: 20_000 })

  expect([ran.status, ran.body.status, catalog.status]).toEqual([200, 'completed', 200])
  expect(second.output()).toContain('namespace rate limit exceeded')
  expect(entries.find(({ kind, phase }) => kind === 'workflow' && phase === 'ended')?.attributes?.status).toBe('terminated')
  expect(entries.some(({ kind }) => kind === 'llm')).toBe(true)
  expect((await api.call('GET', `/workflow/${open}/status`)).body.status).toBe('running')
}, 90_000)
