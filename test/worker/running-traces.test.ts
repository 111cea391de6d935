/** The trace of a run that goes on: a part is stored already, the newest of it waits in the key-value store. */
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace-tree.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startWeed } from '../support/s3.ts'
import { type Service, startService } from '../support/service.ts'
import { nodesIn } from '../support/trace-nodes.ts'
import { storedTrace, tracedEnv } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'

const taskQueue = `running-${crypto.randomUUID()}`

let redis: RunningRedis
let s3: RunningS3
let connection: Connection
let worker: TestWorker
let service: Service

beforeAll(async () => {
  const { address } = inject('engine')
  ;[redis, s3, connection] = await Promise.all([startRedis(), startWeed(), Connection.connect({ address })])
  const { client: _client, stop: _stop, ...storage } = s3
  const traces = { remote: { storage, kvstore: { url: redis.url, token: null } }, local: null, maxBytes: 1 << 20 }
  const plugins = [porticoPlugin({ catalog: defineCatalog({ ticking: {} }), traces })]
  const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
  worker = await startWorker({ address, taskQueue, activities, workflowsPath, options: { plugins } })
  service = await startService({ address, catalog: taskQueue, env: tracedEnv(redis, s3) })
})

afterAll(async () => {
  await worker?.stop()
  await Promise.all([service?.kill(), redis?.kill(), s3?.stop(), connection?.close()])
})

test('running traces: with a part of it in the bucket, a run shows what has happened up to a second ago', async () => {
  // Its first link ends, and is stored, while the next one goes on.
  const { workflow } = new Client({ connection })
  const handle = await workflow.start('ticking', { workflowId: taskQueue, taskQueue, args: [{ ms: 2500, links: 4 }] })

  const { complete, data } = await until('the newest is shown beside what is stored', async () => {
    const askedAt = Date.now()
    const answer = await traceLog()
    const newest = Math.max(...ticksIn(answer.data))
    if (answer.source !== 'remote' || newest < askedAt - 1000) return null
    const stored = toTraceTree((await storedTrace(s3, taskQueue)).entries)
    return newest > Math.max(...ticksIn(stored)) + 1000 ? answer : null
  })

  const [first, second] = data.children
  expect(complete).toBe(false)
  expect([first?.id, first?.attributes.status, second?.endedAt]).toEqual([handle.firstExecutionRunId, 'continued', null])
  // One every 50 ms.
  expect(ticksIn(first).length).toBeGreaterThan(20)
  await handle.terminate()
})

async function traceLog() {
  const { status, body } = await service.call('GET', `/workflow/${taskQueue}/trace-log`)
  if (status !== 200) throw new Error(`trace-log answered ${status}`)
  return body as { source: string; complete: boolean; data: TraceNode }
}

/** When they began. */
function ticksIn(node: TraceNode | null | undefined): number[] {
  return (node ? nodesIn(node) : []).filter(({ kind }) => kind === 'tick').map(({ startedAt }) => startedAt)
}
