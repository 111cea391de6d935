import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import * as activities from '../../examples/activities.ts'
import { catalog } from '../../examples/catalog.ts'
import { approve, type order, priority, progress } from '../../examples/workflows.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

const taskQueue = `order-${crypto.randomUUID()}`
let connection: Connection
let client: Client
let worker: TestWorker

beforeAll(async () => {
  const { address } = inject('engine')
  connection = await Connection.connect({ address })
  client = new Client({ connection })
  worker = await startWorker({
    address,
    taskQueue,
    catalog,
    activities,
    workflowsPath: new URL('../../examples/workflows.ts', import.meta.url),
  })
})

afterAll(async () => {
  await worker?.stop()
  await connection?.close()
})

test('order: charges and ships', async () => {
  const handle = await place({ amount: 20 })

  const result = await handle.result()

  expect(result).toEqual({ orderId: 'o-1', chargeId: 'charge-o-1', shipmentId: 'shipment-o-1-normal' })
  expect(await steps(handle)).toEqual(['validate', 'charge', 'ship'])
  expect(await handle.query(progress)).toEqual({ stage: 'shipped', priority: 'normal', approvedBy: null })
})

test('order: above 100 it waits for an approval', async () => {
  const handle = await place({ amount: 101 })
  await stage(handle, 'waiting_for_approval')

  await handle.signal(approve, { by: 'Grace' })
  await handle.result()

  expect(await handle.query(progress)).toMatchObject({ stage: 'shipped', approvedBy: 'Grace' })
})

test('order: the update priority changes how it is shipped', async () => {
  const handle = await place({ amount: 500 })
  await stage(handle, 'waiting_for_approval')

  const change = await handle.executeUpdate(priority, { args: [{ level: 'high' }] })
  await handle.signal(approve, { by: 'Grace' })

  expect(change).toEqual({ before: 'normal', after: 'high' })
  expect((await handle.result()).shipmentId).toBe('shipment-o-1-high')
})

test('order: a priority it does not know is refused and changes nothing', async () => {
  const handle = await place({ amount: 500 })
  await stage(handle, 'waiting_for_approval')

  const unknown = await handle
    .executeUpdate<unknown, [unknown]>('priority', { args: [{ level: 'at once' }] })
    .catch(thrown)
  const missing = await handle.executeUpdate('priority').catch(thrown)

  expect(unknown).toMatchObject({ cause: { message: 'level must be one of low, normal, high' } })
  expect(missing).toMatchObject({ cause: { message: 'level must be one of low, normal, high' } })
  expect(await handle.query(progress)).toMatchObject({ priority: 'normal' })
  await handle.terminate()
})

test('order: card 0000 fails for good as CardDeclined', async () => {
  const handle = await place({ amount: 20, card: '0000' })

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({
    cause: { cause: { type: 'CardDeclined', nonRetryable: true, message: 'Card 0000 was declined' } },
  })
  expect(await steps(handle)).toEqual(['validate', 'charge'])
})

test('order: card flaky is charged at the third attempt', async () => {
  const handle = await place({ amount: 20, card: 'flaky' })

  await handle.result()

  const { events } = await handle.fetchHistory()
  expect(events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []).at(-2)).toBe(3)
})

test('order: nothing to charge is refused before a card is', async () => {
  const handle = await place({ amount: 0 })

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({ cause: { cause: { type: 'InvalidOrder' } } })
  expect(await steps(handle)).toEqual(['validate'])
})

test('order: a stop after the charge refunds it and ends canceled', async () => {
  const handle = await place({ amount: 500 })
  await stage(handle, 'waiting_for_approval')

  await handle.cancel()
  await handle.result().catch(() => {})

  expect((await handle.describe()).status.name).toBe('CANCELLED')
  expect(await steps(handle)).toEqual(['validate', 'charge', 'refund'])
  expect(await handle.query(progress)).toMatchObject({ stage: 'refunded' })
})

function place({ amount, card = '4242' }: { amount: number; card?: string }): Promise<WorkflowHandle<typeof order>> {
  return client.workflow.start<typeof order>('order', {
    workflowId: `order-${crypto.randomUUID()}`,
    taskQueue,
    args: [{ orderId: 'o-1', amount, card }],
  })
}

function stage(handle: WorkflowHandle<typeof order>, wanted: string): Promise<boolean> {
  return until(`the order is ${wanted}`, async () => (await handle.query(progress)).stage === wanted)
}

/** Names of the activities, in order. */
async function steps(handle: WorkflowHandle<typeof order>): Promise<(string | null | undefined)[]> {
  const { events } = await handle.fetchHistory()
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) =>
    step ? [step.activityType?.name] : [],
  )
}

function thrown(error: unknown): unknown {
  return error
}
