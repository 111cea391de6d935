/** Streams of workers that encode their payloads, or store them outside the engine. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { opaque, startCodec } from '../../support/codec.ts'
import { problemOf } from '../../support/event-stream.ts'
import { startStore } from '../../support/external-storage.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { readiness } from '../../support/readiness.ts'
import { outline, publish, readStream } from './reader.ts'

const test = baseTest
  .extend('workerOptions', { scope: 'file' }, () => ({ options: { dataConverter: { payloadCodecs: [opaque] } } }))
  .extend('withCodec', { scope: 'file' }, async ({ serve, cleanup, worker: _ }) => {
    const codec = await startCodec({ opaque: true })
    cleanup.defer(() => codec.close())
    const service = serve({ ENGINE_CODEC_ENDPOINT: codec.url })
    await readiness(service)
    return service
  })

test('streams: a service with the codec of the workers publishes and reads, live, later and after a continue-as-new', async ({
  withCodec: service,
}) => {
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  expect((await publish(service, workflowId, { text: 'a' })).status).toBe(202)
  await reader.first('item')
  await service.post(`${workflowId}/signal/continueAsNew`)
  const continued = await reader.first('continued')
  await publish(service, workflowId, 'b')
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended
  const later = readStream(() => service, `${workflowId}/stream`, { 'Last-Event-ID': reader.events[1]?.id ?? '' })
  await later.ended

  expect(outline(reader.events)).toEqual(['workflow', { text: 'a' }, 'continued', 'b', 'done'])
  expect(continued.data.reset).toBeUndefined()
  expect(later.data()).toEqual(['b'])
})

test('streams: a service without the codec says which encoding it cannot read', async ({ withCodec, serve }) => {
  const service = serve()
  const { workflowId } = (await withCodec.start('streamSignals', {})).body
  await publish(withCodec, workflowId, 'secret')
  const written = readStream(() => withCodec, `${workflowId}/stream`)
  await written.first('item')
  written.close()
  const events = await service.call('GET', `/workflow/${workflowId}/stream`)
  const items = await service.get(`${workflowId}/stream`, { Accept: 'application/json' })
  await withCodec.post(`${workflowId}/signal/finish`)

  const error = { status: 501, error: 'NotSupportedError', message: expect.stringContaining('"binary/opaque"') }
  expect([problemOf(events), items.body]).toMatchObject([error, error])
})

test('streams: a batch that is stored outside the engine is a 501 without a codec server that has it', async ({
  serve,
  startWorker,
  cleanup,
}) => {
  const store = await startStore({ thresholdBytes: 500 })
  cleanup.defer(() => store.stop())
  const catalog = `stored-${crypto.randomUUID()}`
  await startWorker({ taskQueue: catalog, options: { dataConverter: store.dataConverter } })
  const service = serve({ SERVICE_CATALOG_ID: catalog })
  const withCodec = serve({ SERVICE_CATALOG_ID: catalog, ENGINE_CODEC_ENDPOINT: store.codec.url })
  const { workflowId, runId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publish(service, workflowId, 'small')
  await reader.first('item')
  await publish(service, workflowId, 'x'.repeat(600))
  await reader.ended
  const later = await service.call('GET', `/workflow/${workflowId}/stream?from=1`)
  const items = await service.get(`${workflowId}/stream?from=1`, { Accept: 'application/json' })
  const able = readStream(() => withCodec, `${workflowId}/stream`)
  await until('both items arrive', () => able.data().length === 2)
  await service.post(`${workflowId}/signal/finish`)
  await able.ended

  const error = { status: 501, error: 'NotSupportedError', workflowId, runId, sizeBytes: expect.any(Number) }
  expect(outline(reader.events)).toEqual(['workflow', 'small', 'server_error'])
  expect(reader.events.at(-1)).toMatchObject({ id: `${runId}@end`, data: error })
  expect([problemOf(later), items.body]).toMatchObject([error, error])
  expect(outline(able.events)).toEqual(['workflow', 'small', 'x'.repeat(600), 'done'])
})
