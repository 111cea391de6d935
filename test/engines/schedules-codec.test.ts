/** Schedules whose values a codec server encodes. */
import { expect } from 'vitest'
import { aSchedule, scheduleCalls } from '../conformance/schedules.ts'
import { opaque, startCodec } from '../support/codec.ts'
import { test } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'

test('with a codec server the engine stores arguments, memo and texts encoded, and responses have them decoded', async ({
  startWorker,
  serve,
  cleanup,
  client,
}) => {
  const codec = await startCodec({ opaque: true })
  cleanup.defer(() => codec.close())
  await startWorker({ options: { dataConverter: { payloadCodecs: [opaque] } } })
  const service = serve({ ENGINE_CODEC_ENDPOINT: codec.url })
  const { id, put, get, post } = scheduleCalls(service)
  const document = aSchedule({
    ...{ workflowName: 'echo', input: { card: '4242' }, memo: { team: 'red' }, summary: 'short' },
    set: { name: 'billing', digest: 'd' },
  })

  const created = await put(document)
  const { version } = created.body
  const replaced = await put({ ...document, note: 'again' }, { 'If-Match': `"${version}"` })

  expect([created.status, replaced.status]).toEqual([201, 200])
  expect((await get()).body).toMatchObject({
    ...{ args: [{ card: '4242' }], memo: { team: 'red' }, summary: 'short', note: 'again' },
    set: { name: 'billing', digest: 'd' },
  })
  const { schedule } = await client.workflowService.describeSchedule({ namespace: 'default', scheduleId: id })
  const stored = JSON.stringify(schedule?.action?.startWorkflow, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  )
  for (const text of ['4242', 'red', 'short']) expect(stored).not.toContain(text)
  await post('trigger')
  const runs = `runs?searchAttributes[TemporalScheduledById]=${id}&status=completed`
  await expect.poll(async () => (await service.get(runs)).body.runs?.length).toBe(1)
  const [started] = (await service.get(runs)).body.runs
  expect((await service.get(`${started.workflowId}/result`)).body.output).toEqual({ card: '4242' })
  announceErrors(/"error":"PayloadCodecError"/)
  codec.fail(500)
  expect(['PayloadCodecError', 'EngineUnavailableError']).toContain((await get()).body.error)
})
