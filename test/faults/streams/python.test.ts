/** Streams of a worker in Python, whose SDK has the query for items, too. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { problemOf } from '../../support/event-stream.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { startPythonWorker } from '../../support/python-worker.ts'
import { outline, pollsOf, publish, readStream } from './reader.ts'

const test = baseTest.extend('startPython', { scope: 'file' }, async ({ engine, catalog, client, cleanup }) => {
  const taskQueue = `${catalog}-python`
  const worker = await startPythonWorker({ address: engine.address, taskQueue })
  cleanup.defer(() => worker.stop())
  return async (workflow: string, ...args: unknown[]) => {
    const { workflowId } = await client.workflow.start(workflow, { workflowId: crypto.randomUUID(), taskQueue, args })
    return workflowId
  }
})

test('streams: what activities, clients and the workflow publish in Python arrives, across a continue-as-new', async ({
  serve,
  startPython,
}) => {
  const service = serve()
  const id = await startPython('py_stream', { batches: [['a'], ['b']] })
  const reader = readStream(() => service, `${id}/stream`)
  await until('the words have arrived', () => reader.data().length === 2)
  await publish(service, id, 'c')
  await until('the item has arrived', () => reader.data().length === 3)
  await service.post(`${id}/signal/continueAsNew`)
  const continued = await reader.first('continued')
  await service.post(`${id}/signal/publishItself`, { payload: 2 })
  await until('the numbers have arrived', () => reader.data().length === 5)
  await service.post(`${id}/signal/finish`)
  await reader.ended

  expect(outline(reader.events)).toEqual(['workflow', { text: 'a' }, { text: 'b' }, 'c', 'continued', 0, 1, 'done'])
  expect(continued.data.reset).toBeUndefined()
})

test('streams: items that a workflow in Python publishes at its very end are read by a query, although there was no poll', async ({
  serve,
  startPython,
  client,
}) => {
  const service = serve()
  const id = await startPython('py_stream', {})
  const handle = client.workflow.getHandle(id)
  await handle.signal('publishItself', 4)
  await handle.signal('finish')
  await handle.result()
  const reader = readStream(() => service, `${id}/stream`)
  await reader.ended

  expect(outline(reader.events)).toEqual(['workflow', 0, 1, 2, 3, 'done'])
  expect(reader.events.at(-1)?.data).toMatchObject({ next: 4, complete: true })
  expect(await pollsOf(client, id)).toEqual([])
})

test('streams: a workflow in Python without a stream, but with handlers for every name, receives nothing', async ({
  serve,
  startPython,
  client,
}) => {
  const service = serve()
  const id = await startPython('py_dynamic_handlers')
  const events = await service.call('GET', `/workflow/${id}/stream`)
  const items = await service.get(`${id}/stream`, { Accept: 'application/json' })
  const published = await publish(service, id, 1)
  await service.post(`${id}/signal/finish`)

  for (const { status, error } of [problemOf(events), items.body, published.body])
    expect([status, error]).toEqual([404, 'StreamNotFoundError'])
  expect(await client.workflow.getHandle(id).result()).toEqual(['signal finish'])
})
