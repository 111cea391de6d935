/** Stores so far away that the traces of one root are stored at the same time, and over each other. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { RunningProcess } from '../support/process.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startRclone } from '../support/s3.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { bundleTraced, startTracedWorker, storedTrace, tracedEnv, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'

const taskQueue = `far-${crypto.randomUUID()}`

let folder: string
let redis: RunningRedis
let s3: RunningS3
let ways: TcpProxy[] = []
let worker: RunningProcess
let connection: Connection
let client: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-far-'))
  const { address } = inject('engine')
  const [bundle, ...stores] = await Promise.all([bundleTraced(folder), startRedis(), startRclone()])
  ;[redis, s3] = stores
  const far = (target: string) => startTcpProxy(target, { latencyMs: 500 })
  ways = await Promise.all([far(`127.0.0.1:${redis.port}`), far(s3.endpoint.slice('http://'.length))])
  const [toRedis, toS3] = ways.map((way) => way.address)
  const stored = { ...s3, endpoint: `http://${toS3}` }
  const env = tracedEnv({ url: redis.url.replace(`127.0.0.1:${redis.port}`, String(toRedis)) }, stored)
  worker = await startTracedWorker({ ...env, SERVICE_CATALOG_ID: taskQueue, ENGINE_ADDRESS: address, WORKFLOW_BUNDLE: bundle })
  connection = await Connection.connect({ address })
  client = new Client({ connection })
})

afterAll(async () => {
  await worker?.kill()
  await Promise.all(ways.map((way) => way.close()))
  await redis?.kill()
  await s3?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('far stores: a child and its parent, or the links of a chain, that end one shortly after the other lose no span', async () => {
  const runs: WorkflowHandle[] = []
  for (const afterMs of [1050, 1150, 1250]) {
    // No more at once than are stored at once.
    const plans = [
      { end: 'complete', children: 1, afterMs },
      { end: 'complete', links: 2, afterMs },
    ]
    const pair = await Promise.all(
      plans.map((plan) => client.workflow.start('story', { workflowId: `far-${crypto.randomUUID()}`, taskQueue, args: [plan] })),
    )
    await Promise.all(pair.map((run) => run.result()))
    await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 30_000 })
    runs.push(...pair)
  }

  const spans = await Promise.all(
    runs.map(async ({ workflowId }) => (await storedTrace(s3, workflowId)).entries.filter(({ id }) => id.includes(':span:')).length),
  )

  // Two steps of two spans, each of which began and ended.
  expect(spans).toEqual(runs.map(() => 8))
}, 90_000)
