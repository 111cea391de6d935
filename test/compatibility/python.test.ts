/**
 * Programs in the shape of Temporal's Python samples: their calls over HTTP, compared with those of Temporal's client.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { untilPolled } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startPythonWorker } from '../support/python-worker.ts'
import { nodesIn } from '../support/trace-nodes.ts'
import { TRANSPORTS, type TransportName, useSamples } from './clients.ts'
import { alike, completed, httpClient, outcomeOf, sdkClient } from './sample-client.ts'

const script = fileURLToPath(new URL('./samples.py', import.meta.url))

for (const transport of TRANSPORTS)
  describe.concurrent(`Python samples over ${transport}`, () => describeSamples(transport))

function describeSamples(transport: TransportName): void {
  const samples = useSamples({
    transport,
    startWorker: (address, taskQueue) => startPythonWorker({ address, taskQueue, script }),
  })
  test('activity: one argument leaves the default of the second', async () => {
    expect(await outcomeOf(samples(), 'Activity', 'Ada')).toEqual(completed('Hello, Ada'))
    expect(await outcomeOf(samples(), 'Activity', 'Ada', 'Hi')).toEqual(completed('Hi, Ada'))
  })

  test('signal: two arguments, and none', async () => {
    const outcome = await alike(samples(), async (client) => {
      const run = await client.start('Signal')
      await run.signal('submit', 'Ada', 2)
      await run.signal('close')
      return run.result()
    })

    expect(outcome).toEqual(completed(['Ada', 'Ada']))
  })

  test('query: a closed run answers; a broken and an unknown query are rejected', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('Query', 'Ada')
      return [await run.result(), await run.query('greeting'), await run.query('broken'), await run.query('unknown')]
    })

    expect(seen).toEqual([
      completed(null),
      'Hello, Ada',
      { rejected: 'the query is broken' },
      { rejected: 'no such handler' },
    ])
  })

  test('update: its value, its validator, and arguments of another type', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('Update')
      const rejected = await run.update('add', -1)
      const undecodable = await run.update('add', { not: 'a number' })
      return {
        rejected,
        undecodable,
        added: [await run.update('add', 4), await run.update('add', 6)],
        result: await run.result(),
      }
    })

    expect(seen).toEqual({
      rejected: { rejected: '-1 is not positive' },
      undecodable: { rejected: 'Failed decoding arguments' },
      added: [4, 10],
      result: completed(10),
    })
  })

  test('exception: the failure is that of the activity', async () => {
    expect(await outcomeOf(samples(), 'Failing')).toEqual({
      status: 'failed',
      error: { name: 'RuntimeError', message: 'the activity gave up' },
    })
  })

  test('exception: the failure of the workflow has the type it was given', async () => {
    expect(await outcomeOf(samples(), 'Rejecting', 5)).toEqual({
      status: 'failed',
      error: { name: 'Rejected', message: '5 is rejected' },
    })
  })

  test('child workflows: one array is one argument', async () => {
    expect(await outcomeOf(samples(), 'Parent', ['Ann', 'Bob'])).toEqual(completed(['child Ann', 'child Bob']))
  })

  test('continue-as-new: the result is that of the last run', async () => {
    expect(await outcomeOf(samples(), 'Laps', 3)).toEqual(completed('3 laps'))
  })

  test('cancellation: the run cleans up and is canceled', async () => {
    const { http, sdk, api, client } = samples()
    const outcome = await alike({ http, sdk }, async (each) => {
      const run = await each.start('Cancellation')
      await until('the activity has started', async () => {
        const { raw } = await client.workflow.getHandle(run.workflowId).describe()
        return raw.pendingActivities?.[0]?.lastStartedTime
      })
      await run.stop()
      const result = await run.result()
      const { body } = await api.get(`${run.workflowId}/trace-log`)
      return {
        result,
        steps: nodesIn(body.data)
          .filter(({ kind }) => kind === 'step')
          .map(({ name, output }) => [name, output]),
      }
    })

    expect(outcome).toEqual({
      result: { status: 'canceled' },
      steps: [
        ['work_forever', null],
        ['clean_up', 'cleaned up'],
      ],
    })
  })

  test('pydantic: a model with a naive datetime, in and out as pydantic writes it', async () => {
    const { api, client, connection, catalog: plain } = samples()
    const catalog = `${plain}-pydantic`
    await untilPolled(connection, 'default', catalog)
    const order = { placed_at: '2026-11-22T04:20:00', items: [{ sku: 'tea', price: '2.50' }] }

    const outcome = await alike({ http: httpClient(api, catalog), sdk: sdkClient(client, catalog) }, async (each) =>
      (await each.start('Pydantic', order)).result(),
    )

    expect(outcome).toEqual(
      completed({
        placed_at: '2026-11-22T04:20:00',
        deliver_on: null,
        window: 'PT2H',
        items: [{ sku: 'tea', price: '2.50', quantity: 2 }],
      }),
    )
  })
}
