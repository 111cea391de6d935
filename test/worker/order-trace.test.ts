/** The example's story, told from each place where it may be found. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { type RunningS3, startRclone } from '../../dev/servers/s3.ts'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { until } from '../../dev/servers/until.ts'
import * as activities from '../../examples/activities.ts'
import { catalog } from '../../examples/catalog.ts'
import { approve, priority, progress } from '../../examples/workflows.ts'
import type { TraceNode } from '../../src/protocol/trace/tree.ts'
import { porticoPlugin } from '../../src/worker/index.ts'
import { type Service, startService } from '../support/service.ts'
import { nodesIn, withoutSpans } from '../support/trace-nodes.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

const taskQueue = `order-trace-${crypto.randomUUID()}`

let folder: string
let redis: RunningRedis
let s3: RunningS3
let distance: TcpProxy
let connection: Connection
let client: Client
let worker: TestWorker
/** One service a source: each is told of one place alone. */
let services: { remote: Service; kvstore: Service; local: Service; history: Service }

beforeAll(async () => {
  const { address } = inject('engine')
  folder = await mkdtemp(join(tmpdir(), 'portico-order-'))
  ;[redis, s3, connection] = await Promise.all([startRedis(), startRclone(), Connection.connect({ address })])
  client = new Client({ connection })
  // So far away that what waits to be stored can be looked at.
  distance = await startTcpProxy(new URL(s3.endpoint).host, { latencyMs: 300 })
  const endpoint = `http://${distance.address}`
  const { bucket, region, accessKeyId, secretAccessKey } = s3
  const remote = {
    storage: { bucket, region, accessKeyId, secretAccessKey, endpoint },
    kvstore: { url: redis.url, token: null },
  }
  const plugin = porticoPlugin({
    catalog,
    traces: { remote, local: { directory: folder, writes: true }, maxBytes: 1 << 20 },
  })
  const workflowsPath = new URL('../../examples/workflows.ts', import.meta.url)
  worker = await startWorker({ address, taskQueue, activities, workflowsPath, options: { plugins: [plugin] } })
  const start = (env: Record<string, string>) => startService({ address, catalog: taskQueue, env })
  const [remoteService, kvstore, local, history] = await Promise.all([
    start(tracedEnv(redis, { ...s3, endpoint })),
    // It may read no other endpoint than this.
    start(tracedEnv(redis, { ...s3, endpoint: 'http://127.0.0.1:1' })),
    start({ SERVICE_TRACE_LOCAL_DIR: folder }),
    start({}),
  ])
  services = { remote: remoteService, kvstore, local, history }
})

afterAll(async () => {
  await worker?.stop()
  await Promise.all(Object.values(services ?? {}).map((service) => service.kill()))
  await redis?.kill()
  await distance?.close()
  await s3?.stop()
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('order: its trace shows what it did, the same from all four sources, with spans where there are any', async () => {
  const handle = await place()
  await stage(handle, 'waiting_for_approval')
  await handle.executeUpdate(priority, { args: [{ level: 'high' }] })
  await handle.signal(approve, { by: 'Grace' })
  await handle.result()

  const { kvstore, remote, local, history } = await traces(handle, ({ children }) => {
    const shown = nodesIn(shipOf(children))
    return shown.length === 3 && shown.every(({ endedAt }) => endedAt !== null)
  })

  expect(history.children.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'step validate',
    'step charge',
    'update priority',
    'signal approve',
    'step ship',
  ])
  expect(history.children[1]?.attributes).toMatchObject({
    attempts: 3,
    lastFailure: { message: 'The bank did not answer' },
  })
  expect(shipOf(remote.children).children).toMatchObject([
    {
      kind: 'note',
      attributes: { orderId: 'o-1' },
      children: [
        {
          kind: 'llm',
          name: 'write',
          input: 'Thank the customer for order o-1.',
          attributes: { model: 'parrot-1', tokens: 6 },
        },
      ],
    },
  ])
  expect(kvstore).toEqual(remote)
  expect(local).toEqual(remote)
  expect(withoutSpans(remote)).toEqual(history)
})

test('order: its trace shows the refund after a stop, the same from the bucket, the file and the history', async () => {
  const handle = await place()
  await stage(handle, 'waiting_for_approval')
  await handle.cancel()
  await handle.result().catch(() => {})

  const { remote, local, history } = await archived(handle)

  expect(history.children.map(({ name }) => name)).toEqual(['validate', 'charge', 'refund'])
  expect(history.attributes.status).toBe('canceled')
  expect(local).toEqual(remote)
  expect(remote).toEqual(history)
})

/** The trace of a run that has just ended, from each source; that of the key-value store once it `hasAll`. */
async function traces(handle: WorkflowHandle, hasAll: (root: TraceNode) => boolean) {
  const kvstore = await until('its spans are in the store', async () => {
    const root = await traceFrom('kvstore', handle.workflowId)
    return root !== null && hasAll(root) ? root : null
  })
  return { kvstore, ...(await archived(handle)) }
}

async function archived({ workflowId }: WorkflowHandle) {
  const remote = await until('it is in the bucket', () => traceFrom('remote', workflowId), { timeoutMs: 20_000 })
  const local = await until('it is in the folder', () => traceFrom('local', workflowId), { timeoutMs: 20_000 })
  const history = await until('it is in the history', () => traceFrom('history', workflowId))
  return { remote, local, history }
}

function shipOf(children: TraceNode[]): TraceNode {
  const ship = children.find(({ name }) => name === 'ship')
  if (ship === undefined) throw new Error('nothing is shipped')
  return ship
}

/** Null while another source answers. */
async function traceFrom(source: keyof typeof services, workflowId: string): Promise<TraceNode | null> {
  const { status, body } = await services[source].call('GET', `/workflow/${workflowId}/trace-log`)
  if (status !== 200) throw new Error(`trace-log answered ${status}`)
  const answer = body as { source: string; complete: boolean; data: TraceNode }
  return answer.source === source && answer.complete ? answer.data : null
}

function place(): Promise<WorkflowHandle> {
  const workflowId = `order-${crypto.randomUUID()}`
  return client.workflow.start('order', {
    workflowId,
    taskQueue,
    args: [{ orderId: 'o-1', amount: 500, card: 'flaky' }],
  })
}

function stage(handle: WorkflowHandle, wanted: string): Promise<boolean> {
  return until(`the order is ${wanted}`, async () => (await handle.query(progress)).stage === wanted)
}
