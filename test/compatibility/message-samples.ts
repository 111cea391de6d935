/** Signals, queries and updates, as Temporal's TypeScript samples have them. */
import { expect, test } from 'vitest'
import type { Samples, TransportName } from './clients.ts'
import { alike, completed, stopped } from './sample-client.ts'

export function messageSamples(samples: () => Samples, transport: TransportName): void {
  test('signals and queries: a query sees what a signal changed', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('gate')
      const before = [await run.status(), await run.query('isBlocked')]
      await run.signal('unblock')
      return {
        before,
        result: await run.result(),
        after: await run.query('isBlocked'),
        unknown: await run.query('isOpen'),
      }
    })

    expect(seen).toEqual({
      before: ['running', true],
      result: completed('unblocked'),
      after: false,
      unknown: { rejected: 'no such handler' },
    })
  })

  test('signals and queries: a stopped run is canceled', async () => {
    expect(await stopped(samples(), 'gate')).toEqual({ status: 'canceled' })
  })

  test('message passing: queries, updates, a validator and an update with an activity', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('greeter')
      const before = await run.query('languages', { all: false })
      const rejected = await run.update('setLanguage', 'fr')
      const learned = await run.update('learnLanguage', 'fr')
      const failed = await run.update('learnLanguage', 'tlh')
      const set = await run.update('setLanguage', 'fr')
      const after = await run.query('languages', { all: false })
      await run.signal('approve', 'Ada')
      return { before, rejected, learned, failed, set, after, result: await run.result() }
    })

    expect(seen).toEqual({
      before: ['en'],
      rejected: { rejected: 'fr is not spoken here' },
      learned: 'en',
      failed: { rejected: 'no greeting in tlh' },
      set: 'fr',
      after: ['en', 'fr'],
      result: completed('Salut, Ada'),
    })
  })

  test('safe message handlers: updates take turns and are waited for', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('cluster')
      const assigned = await Promise.all(['a', 'b'].map((job) => run.update('assign', { job, nodes: 1 })))
      const rejected = await run.update('assign', { job: 'c', nodes: 4 })
      await run.signal('shutDown')
      return { assigned: assigned.flat().toSorted(), rejected, result: await run.result() }
    })

    expect(seen).toEqual({
      assigned: ['node-0', 'node-1'],
      rejected: { rejected: '4 nodes are more than 3' },
      result: completed({ assigned: 2, free: 1 }),
    })
  })

  if (transport === 'grpc') {
    test('early return: the update answers before the workflow ends', async () => {
      const seen = await alike(samples(), async (client) => {
        const workflowId = `payment-${crypto.randomUUID()}`
        const { value, run } = await client.updateWithStart(
          { name: 'confirmation', args: [] },
          workflowId,
          'payment',
          40,
        )
        return [value, await run.result()]
      })

      expect(seen).toEqual(['40 accepted', completed('40 settled')])
    })

    test('shopping cart: an update with two arguments starts the cart, or finds it', async () => {
      const seen = await alike(samples(), async (client) => {
        const workflowId = `cart-${crypto.randomUUID()}`
        const first = await client.updateWithStart({ name: 'addItem', args: ['tea', 2] }, workflowId, 'cart')
        const second = await client.updateWithStart({ name: 'addItem', args: ['milk', 1] }, workflowId, 'cart')
        await second.run.signal('checkOut')
        return [first.value, second.value, await second.run.result()]
      })

      expect(seen).toEqual([2, 3, completed({ tea: 2, milk: 1 })])
    })
  } else {
    test('early return, shopping cart: 501 over the HTTP API of the engine', async () => {
      const body = { workflowId: 'cart', workflowName: 'cart', startArgs: [], args: ['tea', 2] }

      const answer = await samples().api.post('update-with-start/addItem', body)

      expect([answer.status, answer.body.error]).toEqual([501, 'NotSupportedError'])
    })
  }
}
