import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import { approve, type Order, type order, priority, progress } from '../../examples/workflows.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as baseTest } from '../support/fixtures.ts'

const test = baseTest
  .extend('workerOptions', { scope: 'file' }, () => EXAMPLE_WORKER)
  /** Starts an order. */
  .extend('place', { scope: 'file' }, ({ client, worker }) => (given: Partial<Order>) => {
    const args: [Order] = [{ orderId: 'o-1', amount: 20, card: '4242', ...given }]
    const workflowId = `order-${crypto.randomUUID()}`
    return client.workflow.start<typeof order>('order', { workflowId, taskQueue: worker.taskQueue, args })
  })

test('order: charges and ships', async ({ place }) => {
  const handle = await place({ amount: 20 })

  const result = await handle.result()

  expect(result).toEqual({ orderId: 'o-1', chargeId: 'charge-o-1', shipmentId: 'shipment-o-1-normal' })
  expect(await steps(handle)).toEqual(['validate', 'charge', 'ship'])
  expect(await handle.query(progress)).toEqual({ stage: 'shipped', priority: 'normal', approvedBy: null })
})

test('order: waits for approval above 100', async ({ place }) => {
  const handle = await place({ amount: 101 })
  await stage(handle, 'waiting_for_approval')

  await handle.signal(approve, { by: 'Grace' })
  await handle.result()

  expect(await handle.query(progress)).toMatchObject({ stage: 'shipped', approvedBy: 'Grace' })
})

test('order: the update priority changes the shipment', async ({ place }) => {
  const handle = await place({ amount: 500 })
  await stage(handle, 'waiting_for_approval')

  const change = await handle.executeUpdate(priority, { args: [{ level: 'high' }] })
  await handle.signal(approve, { by: 'Grace' })

  expect(change).toEqual({ before: 'normal', after: 'high' })
  expect((await handle.result()).shipmentId).toBe('shipment-o-1-high')
})

test('order: an unknown priority is rejected and changes nothing', async ({ place }) => {
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

test('order: card 0000 fails without retries as CardDeclined', async ({ place }) => {
  const handle = await place({ amount: 20, card: '0000' })

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({
    cause: { cause: { type: 'CardDeclined', nonRetryable: true, message: 'Card 0000 was declined' } },
  })
  expect(await steps(handle)).toEqual(['validate', 'charge'])
})

test('order: card flaky is charged at the third attempt', async ({ place }) => {
  const handle = await place({ amount: 20, card: 'flaky' })

  await handle.result()

  const { events } = await handle.fetchHistory()
  expect(events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []).at(-2)).toBe(3)
})

test('order: an amount of 0 is rejected before the card is charged', async ({ place }) => {
  const handle = await place({ amount: 0 })

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({ cause: { cause: { type: 'InvalidOrder' } } })
  expect(await steps(handle)).toEqual(['validate'])
})

test('order: a stop after the charge refunds it, and the run is canceled', async ({ place }) => {
  const handle = await place({ amount: 500 })
  await stage(handle, 'waiting_for_approval')

  await handle.cancel()
  await handle.result().catch(() => {})

  expect((await handle.describe()).status.name).toBe('CANCELLED')
  expect(await steps(handle)).toEqual(['validate', 'charge', 'refund'])
  expect(await handle.query(progress)).toMatchObject({ stage: 'refunded' })
})

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
