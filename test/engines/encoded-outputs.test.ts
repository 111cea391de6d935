import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { activityCalls } from '../conformance/activities-alone.ts'
import { type CodecServer, opaque, startCodec } from '../support/codec.ts'
import { test } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
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
    await Promise.all(services.map((one) => readiness(one)))
  })

  const warningsOf = ({ events }: Service) => events.filter(({ message }) => message.includes('ENGINE_CODEC_ENDPOINT'))
  const service = (index: number) => services[index] ?? expect.unreachable()
  /** A request's own line is its last. On a busy machine a service may first say that it is not ready. */
  const untilLogged = ({ events }: Service, requests: number) =>
    until(
      'the requests are logged',
      async () =>
        events.filter(({ message, route }) => message === 'request' && route !== '/ready').length === requests,
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

  test('activities: their outputs, failures and progress are encoded for the worker and the engine', async ({
    client,
  }) => {
    const workflowIds = await Promise.all(
      [0, 1].map(async () => (await service(2).start('completesOutside', { attempts: 1 })).body.workflowId as string),
    )
    const [completed, failed] = workflowIds.map((id) => `${id}/activities/approval`)
    const beat = (activity = '') => service(2).post(`${activity}/heartbeat`, { details: 'secret progress' })
    for (const activity of [completed, failed])
      await until('the activity waits', async () => (await beat(activity)).status === 200)
    const { body: status } = await service(2).get(`${workflowIds[0]}/status`)
    const described = await client.workflow.getHandle(workflowIds[0] ?? '').describe()

    await service(2).post(`${completed}/complete`, { output: 'secret output' })
    await service(2).post(`${failed}/fail`, { message: 'secret message', name: 'Rejected', details: ['secret detail'] })
    const results = await Promise.all(workflowIds.map((id) => service(2).get(`${id}/result?wait=20s`)))

    expect(status.progress[0].details).toBe('secret progress')
    expect(results.map(({ body }) => body.output ?? body.errorDetails)).toMatchObject([
      ['secret output'],
      { message: 'secret message', name: 'Rejected', details: ['secret detail'], activityId: 'approval' },
    ])
    const histories = await Promise.all(workflowIds.map((id) => client.workflow.getHandle(id).fetchHistory()))
    const ends = histories.flatMap(({ events }) =>
      (events ?? []).flatMap(
        (event) => event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes ?? [],
      ),
    )
    expect(ends.length).toBe(2)
    expect(textIn(ends)).toContain('binary/opaque')
    expect(textIn([ends, described.raw.pendingActivities])).not.toContain('secret')
  })

  test('activities without a workflow: their values are encoded, but not which request has started them', async ({
    client,
  }) => {
    const [done, failed] = [activityCalls(service(2)), activityCalls(service(2))]
    const keyed = () => done.run('echoBack', { input: 'secret input' }, { 'Idempotency-Key': done.id })
    const ended = [await keyed(), await keyed()]
    await failed.start('outside', { input: 'secret input', summary: 'secret summary', retry: { maximumAttempts: 1 } })
    const beat = () => failed.post('heartbeat', { details: 'secret progress' })
    await until('the activity has begun', async () => (await beat()).status === 200)
    const { body: status } = await failed.get('status')
    await failed.post('fail', { message: 'secret message', name: 'Rejected', details: ['secret detail'] })
    const { body: result } = await failed.get('result?wait=20s')

    expect(ended.map(({ body, headers }) => [body.output, headers.get('Idempotency-Replayed')])).toEqual([
      ['secret input', 'false'],
      ['secret input', 'true'],
    ])
    expect(status.progress.details).toBe('secret progress')
    expect([result.input, result.errorDetails]).toMatchObject([
      'secret input',
      { message: 'secret message', name: 'Rejected', details: ['secret detail'] },
    ])
    const parts = { includeInput: true, includeOutcome: true, includeLastFailure: true, includeHeartbeatDetails: true }
    const kept = await Promise.all(
      [done, failed].map(({ id: activityId }) =>
        client.workflowService.describeActivityExecution({ namespace: 'default', activityId, ...parts }),
      ),
    )
    expect(textIn(kept)).toContain('binary/opaque')
    expect(textIn(kept)).not.toContain('secret')
  })

  test('questions: they are decoded, and answers are encoded, of which the first one counts', async ({ client }) => {
    const { body: run } = await service(2).start('asksPerson', { key: 'secret question' })
    const path = `${run.workflowId}/questions`
    const [question] = await until('it is asked', async () => {
      const { questions } = (await service(2).get(path)).body
      return questions.length > 0 && questions
    })
    const answer = async (approved: boolean) => {
      const content = { approved, note: 'secret note' }
      return (await service(2).post(`${path}/${encodeURIComponent(question.key)}/answer`, { content })).status
    }

    const statuses = [await answer(true), await answer(true), await answer(false)]
    const { body: result } = await service(2).get(`${run.workflowId}/result?wait=20s`)
    const { events } = await client.workflow.getHandle(run.workflowId).fetchHistory()

    expect([question.key, statuses]).toEqual(['secret question', [200, 200, 409]])
    expect(result.output).toEqual([{ approved: true, note: 'secret note' }])
    expect(textIn(events)).not.toContain('secret')
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

/** All strings in a message, and its bytes as text. */
function textIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return value instanceof Uint8Array
    ? Buffer.from(value).toString('latin1')
    : Object.values(value).map(textIn).join(' ')
}
