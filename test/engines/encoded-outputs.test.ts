import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type CodecServer, opaque, startCodec } from '../support/codec.ts'
import { test } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'

/** Workers that encode their payloads, before a service that does not know their codec. */
describe('workers that encode their payloads', () => {
  const ENV = { SERVICE_LOG_LEVEL: 'info' }
  let services: Service[]
  let codec: CodecServer

  test.beforeAll(async ({ startWorker, startService, cleanup }) => {
    codec = await startCodec({ opaque: true })
    cleanup.defer(() => codec.close())
    await startWorker({ options: { dataConverter: { payloadCodecs: [opaque] } } })
    const withCodec = { ...ENV, ENGINE_CODEC_ENDPOINT: codec.url }
    services = await Promise.all([ENV, ENV, withCodec].map((env) => startService({ env })))
  })

  const warningsOf = ({ events }: Service) => events.filter(({ message }) => message.includes('ENGINE_CODEC_ENDPOINT'))
  const service = (index: number) => services[index] ?? expect.unreachable()
  /** A request's own line is its last. */
  const untilLogged = ({ events }: Service, requests: number) =>
    until(
      'the requests are logged',
      async () => events.filter(({ message }) => message === 'request').length === requests,
    )

  test('encoded outputs: only the first one is a warning, with its encoding and workflow id', async () => {
    const { body: first } = await service(0).run('echo', 'secret')
    await service(0).run('echo', 'secret')
    await service(0).get(`${first.workflowId}/result`)
    await untilLogged(service(0), 3)

    expect(first.output).toEqual({ encoding: 'binary/opaque', data: expect.any(String) })
    expect(warningsOf(service(0))).toMatchObject([
      { level: 'warn', encoding: 'binary/opaque', workflowId: first.workflowId },
    ])
  })

  test('encoded outputs: the value of a query is one', async () => {
    const { body: run } = await service(1).start('messages')
    await service(1).post(`${run.workflowId}/query/state`)
    await untilLogged(service(1), 2)

    expect(warningsOf(service(1))).toMatchObject([{ encoding: 'binary/opaque', workflowId: run.workflowId }])
  })

  test('encoded outputs: with the workers’ codec there is no warning', async () => {
    const { body } = await service(2).run('echo', 'secret')
    await untilLogged(service(2), 1)

    expect(body.output).toBe('secret')
    expect(warningsOf(service(2))).toEqual([])
  })

  test('encoded progress: is decoded with the codec, and null while the codec server fails', async () => {
    const { body: run } = await service(2).start('reportsProgress', { details: { percent: 40 } })
    const read = async () => (await service(2).get(`${run.workflowId}/status`)).body
    const decoded = await until('the heartbeat has arrived', async () => (await read()).progress)

    codec.fail(500)
    const unread = await read()
    codec.fail(500, 0)
    await service(2).post(`${run.workflowId}/terminate`)

    expect(decoded).toMatchObject([{ activityType: 'reports', details: { percent: 40 } }])
    expect(unread).toMatchObject({ status: 'running', progress: [{ activityType: 'reports', details: null }] })
    await until('the log says why', () =>
      service(2).events.some(({ progressUnread }) => JSON.stringify(progressUnread)?.includes('codec server')),
    )
  })
})
