/** The engine and the worker are killed while streams are open. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { startEngine } from '../../../dev/servers/engine.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { toPayload } from '../../../src/shared/temporal/payload.ts'
import { payloadToWire } from '../../../src/shared/temporal/payload-wire.ts'
import { test } from '../../support/fixtures.ts'
import { UNDISTURBED } from '../../support/undisturbed.ts'
import { startWorkerProcess } from '../start-worker-process.ts'
import { publish, publishUntilAccepted, readStream } from './reader.ts'

test('streams: an open stream continues when the engine is back, and a new one gets a 503 meanwhile (failure 1)', async ({
  folder,
  serve,
  startWorker,
  cleanup,
}) => {
  const engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig: UNDISTURBED })
  cleanup.defer(() => engine.kill())
  const service = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: 'killed' })
  await startWorker({ address: engine.address, taskQueue: 'killed' })
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publish(service, workflowId, 1)
  await reader.first('item')

  await engine.kill()
  const rejected = await service.call('GET', `/workflow/${workflowId}/stream`)
  const restarted = await engine.restart()
  cleanup.defer(() => restarted.kill())
  await publishUntilAccepted(service, workflowId, 2)
  await until('the item arrives', () => reader.data().includes(2))
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended

  expect([rejected.status, rejected.body.error]).toEqual([503, 'EngineUnavailableError'])
  expect(reader.data()).toEqual([1, 2])
  expect(reader.statuses).toEqual([200])
  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { next: 2, complete: true } })
})

test('streams: without a worker readers get what was read before, and the rest when there is one again', async ({
  engine,
  serve,
  client,
  cleanup,
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const service = serve({ SERVICE_CATALOG_ID: catalog })
  const start = () => startWorkerProcess({ address: engine.address, catalog, cleanup })
  const killed = await start()
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publish(service, workflowId, 1)
  await reader.first('item')

  await killed.kill()
  const alone = serve({ SERVICE_CATALOG_ID: catalog })
  const late = readStream(() => alone, `${workflowId}/stream`)
  await late.first('item')
  const batch = { items: [{ topic: 't', data: payloadToWire(toPayload(2)) }], publisher_id: '', sequence: 0 }
  await client.workflow.getHandle(workflowId).signal('__temporal_workflow_stream_publish', batch)
  const worker = await start()
  await until('both have the second item', () => [reader, late].every((each) => each.data().length === 2))
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all([reader.ended, late.ended])
  await worker.kill()

  expect([reader.data(), late.data()]).toEqual([
    [1, 2],
    [1, 2],
  ])
})

test('streams: a reader that begins with now gets the end of a run whose worker is gone', async ({
  engine,
  serve,
  cleanup,
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const service = serve({ SERVICE_CATALOG_ID: catalog })
  const worker = await startWorkerProcess({ address: engine.address, catalog, cleanup })
  const { workflowId } = (await service.start('streamSignals', {})).body
  await publish(service, workflowId, 1)
  await worker.kill()
  const reader = readStream(() => service, `${workflowId}/stream?from=now`)
  await reader.first('workflow')

  await service.post(`${workflowId}/terminate`)
  await reader.ended

  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { status: 'terminated', complete: false } })
})

test('streams: clients that read JSON get the items and the end of a closed run whose worker is gone', async ({
  engine,
  serve,
  cleanup,
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const service = serve({ SERVICE_CATALOG_ID: catalog })
  const worker = await startWorkerProcess({ address: engine.address, catalog, cleanup })
  const { workflowId } = (await service.start('streamSignals', {})).body
  const json = (from: string | number, api = service) =>
    api.get(`${workflowId}/stream?from=${encodeURIComponent(from)}`, { Accept: 'application/json' })
  await publish(service, workflowId, 1)
  const { next } = (await json(0)).body
  await worker.kill()
  await service.post(`${workflowId}/terminate`)
  const [rest, all] = await Promise.all([json(next), json(0, serve({ SERVICE_CATALOG_ID: catalog }))])

  expect([all.body, rest.body]).toMatchObject([
    { items: [{ data: 1 }], next: null, done: { status: 'terminated', complete: false } },
    { items: [], next: null, done: { status: 'terminated', complete: false } },
  ])
})

test('streams: a reader that waits for a worker learns from it that the workflow has no stream', async ({
  client,
  serve,
  startWorker,
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const service = serve({ SERVICE_CATALOG_ID: catalog })
  const workflowId = crypto.randomUUID()
  await client.workflow.start('defaultHandlers', { workflowId, taskQueue: catalog })
  const reader = readStream(() => service, `${workflowId}/stream`)
  await reader.first('workflow')
  await startWorker({ taskQueue: catalog })
  await reader.ended
  await service.post(`${workflowId}/signal/finish`)

  expect(reader.events.at(-1)).toMatchObject({
    event: 'server_error',
    id: expect.stringMatching(/@end$/),
    data: { status: 404, error: 'StreamNotFoundError', workflowId },
  })
  expect(reader.statuses).toEqual([200])
  expect(await client.workflow.getHandle(workflowId).result()).toEqual(['finish'])
})
