/** A run and its children are one trace, wherever the children run and however long. */
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { TraceNode } from '../../src/protocol/trace-tree.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { type RunningS3, startWeed } from '../support/s3.ts'
import { type Service, startService } from '../support/service.ts'
import { objectKeys, tracedEnv, traceKeys } from '../support/traced-worker.ts'
import { until } from '../support/until.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'
import type { Plan } from './fixtures/traced-workflows.ts'

const taskQueue = `family-${crypto.randomUUID()}`
const childQueue = `${taskQueue}-children`

interface Answer {
  source: string
  complete: boolean
  warnings: string[]
  data: TraceNode
}

let redis: RunningRedis
let s3: RunningS3
let connection: Connection
let client: Client
let workers: TestWorker[]
let service: Service

beforeAll(async () => {
  const { address } = inject('engine')
  ;[redis, s3, connection] = await Promise.all([startRedis(), startWeed(), Connection.connect({ address })])
  client = new Client({ connection })
  const { client: _client, stop: _stop, ...storage } = s3
  const traces = { remote: { storage, kvstore: { url: redis.url, token: null } }, local: null, maxBytes: 1 << 20 }
  const plugin = () => porticoPlugin({ catalog: defineCatalog({ story: {}, ticking: {} }), traces })
  const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
  const start = (queue: string) => startWorker({ address, taskQueue: queue, activities, workflowsPath, options: { plugins: [plugin()] } })
  workers = await Promise.all([start(taskQueue), start(childQueue)])
  service = await startService({ address, catalog: taskQueue, env: tracedEnv(redis, s3) })
  // Whose children are whose is known by what is published.
  for (const queue of [taskQueue, childQueue]) {
    await until(`${queue} is published`, async () => (await service.call('GET', `/workflow/catalog/${queue}`)).status === 200)
  }
})

afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.stop()))
  await Promise.all([service?.kill(), redis?.kill(), s3?.stop(), connection?.close()])
})

test('family traces: a child of another catalog is told, with its spans, in its root’s one object; read by its own id it is what is told there', async () => {
  const handle = await start({ end: 'complete', children: 1, childQueue })
  await handle.result()
  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0)

  const root = await traceLog(handle.workflowId)
  const child = childOf(root.data)
  const alone = await traceLog(String(child?.attributes.workflowId))

  expect(root).toMatchObject({ source: 'remote', complete: true, warnings: [] })
  expect(child?.children).toMatchObject([{ name: 'thinks', children: [{ kind: 'llm', name: 'outer', children: [{ name: 'inner' }] }] }])
  expect(alone).toMatchObject({ source: 'remote', complete: true, warnings: [] })
  expect(alone.data).toEqual(child)
  expect(await objectKeys(s3)).toEqual([expect.stringContaining(handle.firstExecutionRunId)])
})

test('family traces: a child that outlives its root is open in its trace, and told to its end when that is there', async () => {
  const handle = await start({ end: 'complete', abandons: true })
  await handle.result()

  const before = await until('its root is stored', async () => {
    const answer = await traceLog(handle.workflowId)
    return answer.source === 'remote' && answer
  })
  expect(before).toMatchObject({ complete: true, data: { attributes: { status: 'completed' } } })
  const open = childOf(before.data)
  expect(open).toMatchObject({ endedAt: null, attributes: { workflowId: expect.any(String) } })
  await client.workflow.getHandle(String(open?.attributes.workflowId)).cancel()
  await until('nothing is left in the store', async () => (await traceKeys(redis)).length === 0, { timeoutMs: 60_000 })

  const after = await traceLog(handle.workflowId)

  expect(after.source).toBe('remote')
  const child = childOf(after.data)
  expect(child).toMatchObject({ attributes: { status: 'canceled' }, children: [{ name: 'thinks', children: [{ name: 'outer' }] }] })
  expect(child?.endedAt).toBeGreaterThan(after.data.endedAt ?? Number.POSITIVE_INFINITY)
}, 90_000)

function start(plan: Plan): Promise<WorkflowHandleWithFirstExecutionRunId> {
  return client.workflow.start('story', { workflowId: crypto.randomUUID(), taskQueue, args: [plan] })
}

async function traceLog(workflowId: string): Promise<Answer> {
  const { status, body } = await service.call('GET', `/workflow/${workflowId}/trace-log`)
  if (status !== 200) throw new Error(`trace-log answered ${status}`)
  return body as Answer
}

/** The run of its one child. */
function childOf(root: TraceNode): TraceNode | undefined {
  return root.children.find(({ kind }) => kind === 'child_workflow')?.children[0]
}
