/** Streams of workers that encode their payloads. */
import { expect } from 'vitest'
import { opaque, startCodec } from '../../support/codec.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { outline, publish, readStream } from './reader.ts'

const test = baseTest
  .extend('workerOptions', { scope: 'file' }, () => ({ options: { dataConverter: { payloadCodecs: [opaque] } } }))
  .extend('withCodec', { scope: 'file' }, async ({ serve, cleanup, worker: _ }) => {
    const codec = await startCodec({ opaque: true })
    cleanup.defer(() => codec.close())
    return serve({ ENGINE_CODEC_ENDPOINT: codec.url })
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
  expect([events.body, items.body]).toMatchObject([error, error])
})
