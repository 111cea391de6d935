/** Batches over each transport, on an engine whose only batches are these. */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeBatches, ended, startListed } from '../conformance/batches.ts'
import type { InProcessService } from '../support/fixtures.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'

const TRANSPORTS = ['grpc', 'http'] as const

const test = testWithOwnEngine().extend('services', { scope: 'file' }, ({ serve, faultProxy, worker: _ }) => {
  const [grpc, http] = TRANSPORTS.map((transport) =>
    serve({
      ...{ ENGINE_TRANSPORT: transport, ENGINE_ADDRESS: faultProxy.address },
      ENGINE_HTTP_URL: faultProxy.httpUrl ?? '',
    }),
  )
  return { grpc, http } as Record<(typeof TRANSPORTS)[number], InProcessService>
})

// The engine handles some 50 a second, also those that do not exist.
const SECONDS_OF_RUNS = Array.from({ length: 500 }, (_, n) => ({ workflowId: `none-${n}`, runId: crypto.randomUUID() }))

describe.for(TRANSPORTS)('batches over %s', (transport) => {
  describeBatches(transport, (name, act) => test(name, ({ services }) => act(services[transport])))

  test('while one is running another is a 429 at once; a stop ends it, also if its response is lost', async ({
    services,
    connection,
    faultProxy,
  }) => {
    const api = services[transport]
    const filter = await startListed(api, [`busy-${crypto.randomUUID()}`])
    const batchId = `${'a'.repeat(16)}-${crypto.randomUUID().replaceAll('-', '')}`
    const path = `/batches/${batchId}`
    await connection.workflowService.startBatchOperation({
      ...{ namespace: 'default', jobId: `$batch:${batchId}`, reason: 'long', executions: SECONDS_OF_RUNS },
      terminationOperation: { identity: 'another program' },
    })
    const create = () => api.call('POST', '/batches', { operation: 'stop', filter })

    const { body: running } = await api.call('GET', path)
    const busy: Awaited<ReturnType<typeof create>>[] = []
    const calls = await faultProxy.calls.during(async () => void busy.push(await create()))
    const takeBack = faultProxy.on({
      ...{ method: 'StopBatchOperation', containing: 'enough', times: 1 },
      fault: { lost: async () => {} },
    })
    const stopped = await api.call('POST', `${path}/stop`, { reason: 'enough' })
    takeBack()
    const { body: failed } = await ended(api, batchId)
    const next = await create()
    await ended(api, next.body.batchId)
    const first = await api.call('GET', '/batches?pageSize=1')
    const second = await api.call('GET', `/batches?pageSize=1&pageToken=${first.body.nextPageToken}`)
    const changed = await api.call('GET', `/batches?pageSize=2&pageToken=${first.body.nextPageToken}x`)

    expect(running).toMatchObject({ state: 'running', matching: 500, processed: null, closedAt: null, reason: 'long' })
    expect(calls).toEqual({ ListWorkflowExecutions: 1, StartBatchOperation: 1, DescribeBatchOperation: 1 })
    expect(busy.map(({ status, body, headers }) => [status, body.error, headers.get('Retry-After')])).toEqual([
      [429, 'ResourceExhaustedError', '1'],
    ])
    expect([stopped.status, stopped.body]).toEqual([200, { batchId, stopped: true }])
    expect(failed).toMatchObject({ state: 'failed', processed: null, closedAt: expect.any(String) })
    expect([next.status, next.body.matching]).toEqual([202, 1])
    expect([first.body.batches, second.body.batches].map(({ length }) => length)).toEqual([1, 1])
    expect(second.body.batches[0].batchId).not.toBe(first.body.batches[0].batchId)
    expect([changed.status, changed.body.error]).toEqual([400, 'InvalidPageTokenError'])
  })

  test('runs that start later, or continue others, are not signaled; the signals of others carry who sent them', async ({
    services,
    client,
    faultProxy,
  }) => {
    const api = services[transport]
    const [continued, signaled, later] = ['continued', 'signaled', 'later'].map((id) => `${id}-${crypto.randomUUID()}`)
    const filters = [
      await startListed(api, [`${continued}`], 'chainOnSignal'),
      await startListed(api, [`${signaled}`]),
      { query: `WorkflowId = '${later}'` },
    ]
    const filter = { query: filters.map(({ query }) => query).join(' OR ') }
    const statusOf = async (id = '') => (await api.get(`${id}/status`)).body
    const { runId } = await statusOf(continued)
    faultProxy.on({
      ...{ method: 'StartBatchOperation', containing: `${continued}`, times: 1 },
      fault: {
        async dropped() {
          await api.start('waitForSignal', null, { workflowId: later })
          await api.post(`${continued}/signal/next`)
          await until('it has continued', async () => (await statusOf(continued)).runId !== runId)
        },
      },
    })

    const { body } = await api.call('POST', '/batches', { operation: 'signal', signal: 'finish', filter })
    await ended(api, body.batchId)
    await api.get(`${signaled}/result?wait=30s`)
    const { events } = await client.workflow.getHandle(`${signaled}`).fetchHistory()

    const statuses = await Promise.all([continued, signaled, later].map(statusOf))
    expect(body.matching).toBe(2)
    expect(statuses.map(({ status }) => status)).toEqual(['running', 'completed', 'running'])
    const signals = events?.flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? [])
    expect(signals?.map(({ identity }) => identity)).toEqual([expect.stringMatching(/^portico.* [0-9a-f]{16}$/)])
  })
})
