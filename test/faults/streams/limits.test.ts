/** What the readers of streams may use: updates of a run, and long polls. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type InProcessService, testWithOwnEngine } from '../../support/fixtures.ts'
import { parseMetrics, sumOf } from '../../support/prometheus.ts'
import { startPythonWorker } from '../../support/python-worker.ts'
import { readiness } from '../../support/readiness.ts'
import { pollsOf, publish, readStream } from './reader.ts'

const MAX_UPDATES = 12

const test = testWithOwnEngine({ dynamicConfig: { 'history.maxTotalUpdates': MAX_UPDATES } })

const add = (service: InProcessService, id: string) => service.post(`${id}/update/add`, { payload: 1 })

/** Publishes one batch after the other, each when the reader has the one before. */
async function publishEach(
  service: InProcessService,
  id: string,
  reader: ReturnType<typeof readStream>,
  count: number,
): Promise<void> {
  for (let number = reader.data().length; number < count; number++) {
    await publish(service, id, number)
    await until('the reader has it, or an error', () => reader.data().length > number || isOver(reader))
    if (isOver(reader)) return
  }
}

const isOver = ({ events }: ReturnType<typeof readStream>) => events.at(-1)?.event === 'server_error'

test('streams: readers leave updates to the business, and a run without them is a 429 from which they can resume (threat 54)', async ({
  serve,
  worker: _,
  client,
}) => {
  const service = serve({ SERVICE_STREAM_UPDATES: '5' })
  await readiness(service)
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publishEach(service, workflowId, reader, 20)
  reader.close()
  const sum = await add(service, workflowId)

  expect(reader.events.at(-1)).toMatchObject({
    event: 'server_error',
    id: expect.stringMatching(/@4$/),
    data: { status: 429, error: 'ResourceExhaustedError' },
  })
  expect(reader.data()).toEqual([0, 1, 2, 3, 4])
  expect([sum.status, sum.body]).toMatchObject([200, 1])
  expect((await pollsOf(client, workflowId)).length).toBe(5)
  await service.post(`${workflowId}/signal/finish`)
})

test('streams: the limit of the engine itself is the same 429', async ({ service, client }) => {
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publishEach(service, workflowId, reader, 2 * MAX_UPDATES)
  reader.close()

  expect(reader.events.at(-1)?.data).toMatchObject({ status: 429, error: 'ResourceExhaustedError' })
  expect(reader.data()).toEqual(Array.from({ length: MAX_UPDATES }, (_, number) => number))
  expect((await pollsOf(client, workflowId)).length).toBe(MAX_UPDATES)
  await service.post(`${workflowId}/signal/finish`)
})

test.for(['finish', 'restart'])(
  'streams: a reader that comes again and again after this 429 gets the rest and the end after %s',
  async (signal, { serve, worker: _ }) => {
    const service = serve({ SERVICE_STREAM_UPDATES: '5' })
    await readiness(service)
    const { workflowId, runId } = (await service.start('streamSignals', {})).body
    const reader = readStream(() => service, `${workflowId}/stream`)
    await publishEach(service, workflowId, reader, 20)
    reader.close()
    const path = `${workflowId}/runs/${runId}`
    const read = () => service.get(`${path}/stream?from=5`, { Accept: 'application/json' })
    await publish(service, workflowId, 'the rest')
    const open = await read()
    await service.post(`${workflowId}/signal/${signal}`)
    await until('the run is closed', async () => (await service.get(`${path}/status`)).body.status !== 'running')
    const closed = await read()

    expect([open.status, open.body.error]).toEqual([429, 'ResourceExhaustedError'])
    expect(closed).toMatchObject({ status: 200, body: { done: { complete: true } } })
    expect(closed.body.items.at(-1)?.data).toBe('the rest')
  },
)

test('streams: a reader that reconnects after this 429 gets the rest of the run, and the run that continues it', async ({
  serve,
  worker: _,
}) => {
  const service = serve({ SERVICE_STREAM_UPDATES: '5' })
  await readiness(service)
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publishEach(service, workflowId, reader, 5)
  await publish(service, workflowId, 'the rest')
  await reader.first('server_error')
  await service.post(`${workflowId}/signal/continueAsNew`)
  await reader.first('continued')
  await publish(service, workflowId, 'in the next run')
  await until('the reader has it', () => reader.data().at(-1) === 'in the next run')
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended

  expect(reader.data()).toEqual([0, 1, 2, 3, 4, 'the rest', 'in the next run'])
  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { complete: true } })
})

test('streams: a workflow in Python is read by queries beyond that, until its end', async ({
  serve,
  engine,
  catalog,
  client,
  cleanup,
}) => {
  const taskQueue = `${catalog}-python`
  const worker = await startPythonWorker({ address: engine.address, taskQueue })
  cleanup.defer(() => worker.stop())
  const service = serve({ SERVICE_STREAM_UPDATES: '5' })
  const workflowId = crypto.randomUUID()
  await client.workflow.start('py_stream', { workflowId, taskQueue, args: [{}] })
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publishEach(service, workflowId, reader, 9)
  const sum = await add(service, workflowId)
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended

  expect(reader.data()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { next: 9, complete: true } })
  expect([sum.status, (await pollsOf(client, workflowId)).length]).toEqual([200, 5])
})

async function metricsOf(service: InProcessService) {
  const samples = parseMetrics((await service.call('GET', '/metrics')).text)
  const [readers, feeds, bytes] = ['readers', 'feeds', 'buffered_bytes'].map((name) =>
    sumOf(samples, `portico_stream_${name}`),
  )
  return { readers, feeds, bytes, polls: sumOf(samples, 'portico_open_polls') }
}

test('streams: the readers of a run share one of the long polls, a stream beyond them is a 429, and nothing is left (threat 54)', async ({
  serve,
  worker: _,
}) => {
  const service = serve({ SERVICE_METRICS_ON: 'true', SERVICE_MAX_POLLS: '1' })
  const [shared, beyond] = await Promise.all([1, 2].map(() => service.start('streamSignals', {})))
  const id = shared?.body.workflowId
  const readers = [1, 2, 3].map(() => readStream(() => service, `${id}/stream`))
  await publish(service, id, 'x')
  await Promise.all(readers.map((reader) => reader.first('item')))
  const open = await until('the next poll is open', async () => {
    const metrics = await metricsOf(service)
    return metrics.polls === 1 && metrics
  })
  const rejected = await service.call('GET', `/workflow/${beyond?.body.workflowId}/stream`)
  const asJson = await service.get(`${beyond?.body.workflowId}/stream`, { Accept: 'application/json' })
  const late = readStream(() => service, `${id}/stream`)
  await late.first('item')
  for (const reader of [...readers, late]) reader.close()

  expect(open).toMatchObject({ readers: 3, feeds: 1, polls: 1 })
  expect(open.bytes).toBeGreaterThan(0)
  for (const { status, body, headers } of [rejected, asJson])
    expect([status, body.error, headers.get('Retry-After')]).toEqual([429, 'ResourceExhaustedError', '1'])
  await until('nothing is left', async () => Object.values(await metricsOf(service)).every((value) => value === 0))
  for (const started of [shared, beyond]) await service.post(`${started?.body.workflowId}/signal/finish`)
})
