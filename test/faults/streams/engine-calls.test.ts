/** How many calls readers cause at the engine, counted by a proxy in front of it. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { POLL } from '../../support/call-log.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { parseMetrics, sumOf } from '../../support/prometheus.ts'
import { startWorkerProcess } from '../start-worker-process.ts'
import { outline, pollsOf, publish, publishUntilAccepted, readStream } from './reader.ts'

const READERS = 200

// The engine's limit for one run.
const MAX_IN_FLIGHT = 10

const test = baseTest.extend('counted', { scope: 'file' }, async ({ engine, serve, cleanup, worker: _ }) => {
  const calls: { method: string; message: Buffer }[] = []
  const held = new Map<string, Promise<void>>()
  const proxy = await startFaultProxy(engine.address, null, {
    onCall(method, message) {
      calls.push({ method, message })
      return held.get(method)
    },
  })
  cleanup.defer(() => proxy.stop())
  return {
    /** Starts one more replica. */
    serve: (env: Record<string, string> = {}) => serve({ ENGINE_ADDRESS: proxy.address, ...env }),
    /** Holds calls of this method until the returned function is called. */
    hold(method: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(method, promise)
      return resolve
    },
    /** How many long polls wait for the end of the run. */
    waits: (workflowId: string) => proxy.calls.open(POLL, workflowId),
    /** How many calls were about this workflow. */
    callsOf(workflowId: string) {
      const count = (name: string) =>
        calls.filter(({ method, message }) => method === name && message.includes(workflowId)).length
      return {
        descriptions: count('DescribeWorkflowExecution'),
        queries: count('QueryWorkflow'),
        reads: count('PollWorkflowExecutionUpdate'),
        updates: count('UpdateWorkflowExecution'),
      }
    },
  }
})

test('streams: 200 readers that join at once cause one verification and one poll, and one after the end none (threat 54)', async ({
  counted,
  service,
}) => {
  const replica = counted.serve({ SERVICE_METRICS_ON: 'true', SERVICE_MAX_INFLIGHT: String(2 * READERS) })
  const other = counted.serve()
  const { workflowId } = (await service.start('streamSignals', {})).body
  const release = counted.hold('DescribeWorkflowExecution')
  const readers = Array.from({ length: READERS }, () => readStream(() => replica, `${workflowId}/stream`))
  await until('all of them wait for the description', async () => {
    const samples = parseMetrics((await replica.call('GET', '/metrics')).text)
    return sumOf(samples, 'portico_requests_in_flight') === READERS
  })
  release()
  await Promise.all(readers.map((reader) => reader.first('workflow')))
  await until('the poll is open', () => counted.callsOf(workflowId).updates > 0)
  const joined = counted.callsOf(workflowId)
  await publish(service, workflowId, 1)
  await Promise.all(readers.map((reader) => reader.first('item')))
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all(readers.map(({ ended }) => ended))
  const read = counted.callsOf(workflowId)
  const later = readStream(() => other, `${workflowId}/stream`)
  await later.ended

  // One description for the requests, and one for the feed.
  expect(joined).toEqual({ descriptions: 2, queries: 1, reads: 1, updates: 1 })
  expect(counted.callsOf(workflowId).updates).toBe(read.updates)
  for (const { events } of [...readers, later]) expect(outline(events)).toEqual(['workflow', 1, 'done'])
})

test('streams: a reader that comes at once when the last one has left continues its feed', async ({
  counted,
  service,
}) => {
  const replica = counted.serve()
  const { workflowId } = (await service.start('streamSignals', {})).body
  const [first, second] = [1, 2].map(() => () => readStream(() => replica, `${workflowId}/stream`))
  await publish(service, workflowId, 1)
  const left = first?.()
  await left?.first('item')
  await until('the next poll is open', () => counted.callsOf(workflowId).updates === 2)
  const before = counted.callsOf(workflowId)
  left?.close()
  const reader = second?.()
  await reader?.first('item')
  const after = counted.callsOf(workflowId)
  await service.post(`${workflowId}/signal/finish`)
  await reader?.ended

  expect(after).toEqual({ ...before, descriptions: before.descriptions + 1 })
})

test('streams: an open run is read again after its 429, although readers come again and again', async ({
  counted,
  service,
}) => {
  const replica = counted.serve({ SERVICE_STREAM_UPDATES: '1' })
  const { workflowId } = (await service.start('streamSignals', {})).body
  await publish(service, workflowId, 1)
  const reader = readStream(() => replica, `${workflowId}/stream`)
  const refused = await reader.first('server_error')
  reader.close()
  const { reads } = counted.callsOf(workflowId)
  await until('the run is read again', async () => {
    await replica.get(`${workflowId}/stream?from=1`, { Accept: 'application/json' })
    return counted.callsOf(workflowId).reads > reads
  })
  await service.post(`${workflowId}/signal/finish`)

  expect(refused.data).toMatchObject({ status: 429, error: 'ResourceExhaustedError' })
})

test('streams: a run with as many updates as the engine allows is polled once it has fewer, and others are not disturbed (threat 54)', async ({
  counted,
  service,
  client,
}) => {
  const replica = counted.serve()
  const { workflowId } = (await service.start('streamSignals', {})).body
  const hold = () => service.post(`${workflowId}/update/hold`, undefined, { Prefer: 'respond-async' })
  const accepted = await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, hold))
  await publish(service, workflowId, 1)
  const reader = readStream(() => replica, `${workflowId}/stream`)
  await until('the poll is rejected twice', () => counted.callsOf(workflowId).updates === 2)
  const rejected = await hold()
  const undisturbedId = (await service.start('streamSignals', {})).body.workflowId
  const undisturbed = readStream(() => replica, `${undisturbedId}/stream`)
  await publish(service, undisturbedId, 1)
  await undisturbed.first('item')
  await service.post(`${workflowId}/signal/release`)
  await reader.first('item')
  await Promise.all([workflowId, undisturbedId].map((id) => service.post(`${id}/signal/finish`)))
  await Promise.all([reader.ended, undisturbed.ended])

  expect(accepted.map(({ status }) => status)).toEqual(accepted.map(() => 202))
  expect([rejected.status, rejected.body.message]).toEqual([
    429,
    `Workflow ${workflowId} has reached a limit on concurrent updates or queries of one run.`,
  ])
  expect(undisturbed.statuses).toEqual([200])
  expect(outline(reader.events)).toEqual(['workflow', 1, 'done'])
  expect((await pollsOf(client, workflowId))[0]).toBe('portico-stream/0')
})

test('streams: a verification that the engine rejects because another query waits is repeated', async ({
  counted,
  startWorker,
  client,
}) => {
  const catalog = `streams-${crypto.randomUUID()}`
  const replica = counted.serve({ SERVICE_CATALOG_ID: catalog })
  const workflowId = crypto.randomUUID()
  const handle = await client.workflow.start('streamSignals', { workflowId, taskQueue: catalog, args: [{}] })
  const waiting = handle.query('state').catch(() => {})
  const reader = readStream(() => replica, `${workflowId}/stream`)
  await until('the verification is repeated', () => counted.callsOf(workflowId).queries > 3)
  await startWorker({ taskQueue: catalog })
  await publishUntilAccepted(replica, workflowId, 1)
  await reader.first('item')
  await handle.signal('finish')
  await Promise.all([reader.ended, waiting])

  expect(reader.statuses).toEqual([200])
  expect(reader.data()).toEqual([1])
})

test.for([
  ['detaches its pollers', 'detachPollers'],
  ['was canceled', 'cancel'],
] as const)(
  'streams: a run that %s and takes its time is not polled meanwhile, on any replica',
  async ([, how], { counted, service, client }) => {
    const [replica, other] = [counted.serve(), counted.serve()]
    const { workflowId } = (await service.start('streamSignals', { outlivesCancel: true })).body
    const reader = readStream(() => replica, `${workflowId}/stream`)
    await publish(service, workflowId, 1)
    await reader.first('item')
    const handle = client.workflow.getHandle(workflowId)
    await (how === 'cancel' ? handle.cancel() : handle.signal(how))
    await until('its end is waited for', () => counted.waits(workflowId) === 1)
    const late = readStream(() => other, `${workflowId}/stream`)
    await until('its end is waited for on both replicas', () => counted.waits(workflowId) === 2)
    const before = counted.callsOf(workflowId)
    for (let count = 0; count < 50; count++) await service.post(`${workflowId}/query/state`)
    const meanwhile = counted.callsOf(workflowId)
    await publish(service, workflowId, 2)
    await service.post(`${workflowId}/signal/finish`)
    await Promise.all([reader.ended, late.ended])

    // Offsets 0 and 1. The engine keeps no rejected poll, so the other replica may send the second one again.
    expect(before.updates).toBeLessThanOrEqual(3)
    expect(meanwhile).toEqual(before)
    expect(counted.callsOf(workflowId).updates).toBe(before.updates)
    for (const { events } of [reader, late]) expect(outline(events)).toEqual(['workflow', 1, 2, 'done'])
  },
)

test('streams: a run that a large item would break is left alone after the first reader, and others are not disturbed (threat 56)', async ({
  counted,
  engine,
  cleanup,
}) => {
  // A process of its own: it is busy failing.
  const catalog = `streams-${crypto.randomUUID()}`
  const worker = await startWorkerProcess({ address: engine.address, catalog, cleanup })
  const serveCatalog = () => counted.serve({ SERVICE_CATALOG_ID: catalog })
  const [replica, other] = [serveCatalog(), serveCatalog()]
  const { workflowId } = (await replica.start('streamBig', 2_000_000)).body
  const undisturbedId = (await replica.start('streamSignals', {})).body.workflowId
  const reader = readStream(() => replica, `${workflowId}/stream`)
  const undisturbed = readStream(() => replica, `${undisturbedId}/stream`)
  await publish(replica, undisturbedId, 1)
  await undisturbed.first('item')
  await reader.ended
  const sent = counted.callsOf(workflowId).updates
  const later: Answer[] = []
  for (const each of [replica, other])
    later.push(await each.get(`${workflowId}/stream`, { Accept: 'application/json' }))
  await publish(replica, undisturbedId, 2)
  await replica.post(`${undisturbedId}/signal/finish`)
  await undisturbed.ended

  expect(sent).toBeGreaterThan(0)
  expect(counted.callsOf(workflowId).updates).toBe(sent)
  expect(reader.events.at(-1)).toMatchObject({
    event: 'server_error',
    id: expect.stringMatching(/@end$/),
    data: { status: 409, error: 'WorkflowNotReadyError', problem: expect.anything() },
  })
  for (const { status, body } of later) expect([status, body.error]).toEqual([409, 'WorkflowNotReadyError'])
  expect(undisturbed.data()).toEqual([1, 2])
  await replica.post(`${workflowId}/terminate`)
  await worker.kill()
})
