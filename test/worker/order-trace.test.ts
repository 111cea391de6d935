/** The trace of the example workflow, read from each source. */
import type { WorkflowHandle } from '@temporalio/client'
import { expect, onTestFinished } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import * as activities from '../../examples/activities.ts'
import { catalog } from '../../examples/catalog.ts'
import { approve, priority, progress } from '../../examples/workflows.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'
import { test as baseTest } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'
import { nodesIn, withoutSpans } from '../support/trace-nodes.ts'

/** One service per source, each of which can read only that source. */
interface Services {
  remote: Service
  kvstore: Service
  local: Service
  history: Service
}

const test = baseTest
  /** While it is interrupted, spans wait to be archived. */
  .extend('storageProxy', { scope: 'file' }, async ({ s3, cleanup }) => {
    const proxy = await startTcpProxy(new URL(s3.endpoint).host)
    cleanup.defer(() => proxy.close())
    return proxy
  })
  .extend('storage', { scope: 'file' }, ({ s3: { bucket, region, accessKeyId, secretAccessKey }, storageProxy }) => {
    return { bucket, region, accessKeyId, secretAccessKey, endpoint: `http://${storageProxy.address}` }
  })
  .extend('worker', { scope: 'file' }, ({ startTracedWorker, folder, redis, storage }) => {
    const remote = { storage, kvstore: { url: redis.url, token: null } }
    const traces = { remote, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
    const workflowsPath = new URL('../../examples/workflows.ts', import.meta.url)
    return startTracedWorker({ plugin: { catalog, traces }, activities, workflowsPath })
  })
  .extend('services', { scope: 'file' }, async ({ startService, folder, redis, storage, worker: _ }) => {
    const [remote, kvstore, local, history] = await Promise.all([
      startService({ env: tracedEnv(redis, storage) }),
      // Without the objects: this endpoint does not exist.
      startService({ env: tracedEnv(redis, { ...storage, endpoint: 'http://127.0.0.1:1' }) }),
      startService({ env: { SERVICE_TRACE_LOCAL_DIR: folder } }),
      startService({ env: {} }),
    ])
    return { remote, kvstore, local, history }
  })
  /** Starts an order that waits for approval. */
  .extend('placeOrder', { scope: 'file' }, ({ client, worker: { taskQueue } }) => async () => {
    const workflowId = `order-${crypto.randomUUID()}`
    const args = [{ orderId: 'o-1', amount: 500, card: 'flaky' }]
    const handle = await client.workflow.start('order', { workflowId, taskQueue, args })
    await until('the order waits for approval', async () => {
      return (await handle.query(progress)).stage === 'waiting_for_approval'
    })
    return handle
  })

test('order: its trace is the same from all four sources, except that the history has no spans', async ({
  placeOrder,
  services,
  storageProxy,
}) => {
  const handle = await placeOrder()
  storageProxy.interrupt()
  onTestFinished(() => storageProxy.restore())
  await handle.executeUpdate(priority, { args: [{ level: 'high' }] })
  await handle.signal(approve, { by: 'Grace' })
  await handle.result()

  const kvstore = await until('its spans are in the store', async () => {
    const root = await traceFrom(services, 'kvstore', handle.workflowId)
    const shown = root && nodesIn(shipOf(root.children))
    return shown?.length === 3 && shown.every(({ endedAt }) => endedAt !== null) && root
  })
  storageProxy.restore()
  const { remote, local, history } = await archived(services, handle)

  const kinds = history.children.map(({ kind, name }) => `${kind} ${name}`)
  expect(kinds).toEqual(['step validate', 'step charge', 'update priority', 'signal approve', 'step ship'])
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

test('order: its trace shows the refund after a stop, equal from the bucket, the file and the history', async ({
  placeOrder,
  services,
}) => {
  const handle = await placeOrder()
  await handle.cancel()
  await handle.result().catch(() => {})

  const { remote, local, history } = await archived(services, handle)

  expect(history.children.map(({ name }) => name)).toEqual(['validate', 'charge', 'refund'])
  expect(history.attributes.status).toBe('canceled')
  expect(local).toEqual(remote)
  expect(remote).toEqual(history)
})

/** The trace of a run that has ended, from each source that keeps it. */
async function archived(services: Services, { workflowId }: WorkflowHandle) {
  const remote = await until('it is in the bucket', () => traceFrom(services, 'remote', workflowId))
  const local = await until('it is in the folder', () => traceFrom(services, 'local', workflowId))
  const history = await until('it is in the history', () => traceFrom(services, 'history', workflowId))
  return { remote, local, history }
}

function shipOf(children: TraceNode[]): TraceNode {
  const ship = children.find(({ name }) => name === 'ship')
  if (ship === undefined) throw new Error('nothing is shipped')
  return ship
}

/** Null while the service still reads the trace from another source. */
async function traceFrom(services: Services, source: keyof Services, workflowId: string): Promise<TraceNode | null> {
  const { status, body } = await services[source].get(`${workflowId}/trace-log`)
  if (status !== 200) throw new Error(`trace-log answered ${status}`)
  const answer = body as { source: string; complete: boolean; data: TraceNode }
  return answer.source === source && answer.complete ? answer.data : null
}
