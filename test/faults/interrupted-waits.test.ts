/** Failures during a wait: an engine that rejects polls, a poll without a response, a codec that fails. */

import { describe, expect } from 'vitest'
import type { RunningEngine } from '../../dev/servers/engine.ts'
import { openPolls } from '../../dev/servers/engine-metrics.ts'
import { idleClock } from '../../lab/long/idle-clock.ts'
import { runningMs } from '../../lab/long/running-ms.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { activityCalls } from '../conformance/activities-alone.ts'
import type { Answer, Api } from '../support/api.ts'
import { type CodecServer, opaque, startCodec } from '../support/codec.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'
import { promisedError, promisedMs } from '../support/promises.ts'
import type { Service } from '../support/service.ts'

const CATALOG = 'interrupted'
const MAX_POLLS = 6

const test = testWithOwnEngine({ dynamicConfig: { 'frontend.namespaceCount': MAX_POLLS } })

let engine: RunningEngine
let codec: CodecServer
let proxy: FaultProxy
let overHttp: Service
let api: Api
/** Its payloads go through the codec. */
let coded: Api

test.beforeAll(async ({ engine: ownEngine, serve, startWorker, startService, cleanup }) => {
  engine = ownEngine
  codec = await startCodec({ opaque: true })
  cleanup.defer(() => codec.close())
  proxy = await startFaultProxy(engine.address)
  cleanup.defer(() => proxy.stop())
  // Else its polls alone would be too many for this engine.
  const options = {
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  } as const
  await startWorker({ taskQueue: CATALOG, options })
  await startWorker({ taskQueue: 'coded', options: { ...options, dataConverter: { payloadCodecs: [opaque] } } })
  api = serve({ ENGINE_ADDRESS: proxy.address, SERVICE_CATALOG_ID: CATALOG, SERVICE_METRICS_ON: 'true' })
  coded = serve({ SERVICE_CATALOG_ID: 'coded', ENGINE_CODEC_ENDPOINT: codec.url })
  const env = { ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: engine.httpUrl }
  overHttp = await startService({ catalog: CATALOG, env })
})

async function running(by: Api, workflowId: string): Promise<void> {
  await until(`${workflowId} runs`, async () => (await by.get(`${workflowId}/status`)).body.historyLength >= 4)
}

function run(by: Api, workflowName: string, workflowId: string, timeout: string | number): Promise<Answer> {
  return by.run(workflowName, null, { workflowId, timeout })
}

describe('an engine that rejects polls', () => {
  const holders = Array.from({ length: MAX_POLLS }, (_, number) => `holds-${number}`)
  let held: Promise<Answer>[]

  test.beforeAll(async () => {
    held = holders.map((id) => run(api, 'neverEnds', id, '10m'))
    await until('all polls are taken', async () => (await openPolls(engine.metricsUrl)) === MAX_POLLS)
  })
  test.afterAll(async () => {
    await Promise.all(holders.map((id) => api.post(`${id}/terminate`)))
    await Promise.all(held)
  })

  test('interrupted waits: a run whose polls are rejected returns its result when it ends, over both transports (failure 8)', async () => {
    const ids = ['1', '2', '3', '4'].map((number) => `rejected-${number}`)
    const waiting = ids.map((id, index) => run(index < 2 ? api : overHttp, 'waitForSignal', id, '2m'))
    await Promise.all(ids.map((id) => running(api, id)))
    await Promise.all(ids.map((id) => api.post(`${id}/signal/finish`)))
    const sinceThen = idleClock(overHttp)

    const answers = await Promise.all(waiting)
    const lateMs = sinceThen()
    const samples = parseMetrics((await api.call('GET', '/metrics')).text)

    expect(answers.map(({ status, body }) => [status, body.workflowId, body.status])).toEqual(
      ids.map((id) => [200, id, 'completed']),
    )
    expect(lateMs).toBeLessThan(promisedMs(8, '5 s'))
    const rejected = { rpc_response_status_code: 'RESOURCE_EXHAUSTED' }
    expect(sumOf(samples, 'portico_polls_total', rejected)).toBeGreaterThan(0)
  })

  test('interrupted waits: an activity without a workflow whose polls are rejected is read, over both transports', async () => {
    // The engine counts their polls by themselves.
    const holding = Array.from({ length: MAX_POLLS }, () => activityCalls(api))
    const held = holding.map(({ run }) => run('outside', { timeout: '10m' }))
    await until('all polls are taken', () => proxy.calls.open('PollActivityExecution') === MAX_POLLS)
    const calls = [activityCalls(api), activityCalls(overHttp)]
    const waiting = calls.map(({ run }) => run('outside', { timeout: '2m' }))
    for (const { post } of calls) {
      await until('it has begun', async () => (await post('heartbeat')).status === 200)
      await post('complete', { output: 'done' })
    }
    const sinceThen = idleClock(overHttp)
    const answers = await Promise.all(waiting)

    expect(sinceThen()).toBeLessThan(promisedMs(8, '5 s'))
    expect(answers.map(({ status, body }) => [status, body.output])).toEqual(calls.map(() => [200, 'done']))
    for (const { post } of holding) await post('terminate')
    await Promise.all(held)
  })

  test('interrupted waits: a run that is still open is a 424', async () => {
    const { status, body } = await run(api, 'neverEnds', 'rejected-open', '2s')

    expect([status, body.workflowStatus]).toEqual([424, 'running'])
    expect(body.message).toMatch(/^Workflow rejected-open did not complete within \d+ ms and is still running$/)
  })
})

describe('a poll without a response', () => {
  test('interrupted waits: a run that ended before the timeout returns its result', async () => {
    proxy.on({ method: 'GetWorkflowExecutionHistory', containing: 'unheard', fault: 'hang', times: 1 })

    const { status, body } = await run(api, 'nothing', 'unheard', '15s')

    expect([status, body.status]).toEqual([200, 'completed'])
  })

  test('interrupted waits: if the run cannot be read at the timeout, the error does not claim that it is running', async () => {
    const restore = [
      proxy.on({ method: 'GetWorkflowExecutionHistory', containing: 'unread', fault: 'hang' }),
      proxy.on({ method: 'DescribeWorkflowExecution', containing: 'unread', fault: { code: 14, message: 'gone' } }),
    ]

    const { status, body, headers } = await run(api, 'nothing', 'unread', '1s')
    for (const act of restore) act()

    const facts = [status, body.error, headers.get('Location')]
    expect(facts).toEqual([424, 'WorkflowExecutionTimedOutError', '/workflow/unread/result'])
    expect(body.message).toMatch(/^Workflow unread did not complete within \d+ ms; its status could not be read$/)
    expect(body).not.toHaveProperty('workflowStatus')
  })
})

describe('a codec that fails', () => {
  test('interrupted waits: a codec that fails once loses no response (failure 25)', async () => {
    const waiting = coded.run('waitForSignal', null, { workflowId: 'coded-1' })
    await running(coded, 'coded-1')
    codec.fail(503, 1)
    await coded.post('coded-1/signal/finish')
    const { status, body } = await waiting

    codec.fail(503, 1)
    const result = await coded.get('coded-1/result')

    expect([status, body.status, body.output]).toEqual([200, 'completed', []])
    expect([result.status, result.body.output, codec.failed()]).toEqual([200, [], 1])
  })

  test('interrupted waits: a codec that is unreachable when the run ends interrupts the wait (failure 25)', async () => {
    const waiting = coded.run('waitForSignal', null, { workflowId: 'coded-2' })
    await running(coded, 'coded-2')
    codec.fail(503)
    await coded.post('coded-2/signal/finish')
    await until('the codec has been tried again', () => codec.failed() > 3)
    codec.fail(503, 0)

    const { status, body } = await waiting

    expect([status, body.status, body.output]).toEqual([200, 'completed', []])
  })

  test('interrupted waits: a result that the codec server cannot decode has its ids and Location, and is no new start', async () => {
    announceErrors(/"error":"ResultUnreadableError"/)
    const waiting = coded.run('waitForSignal', null, { workflowId: 'coded-5' })
    await running(coded, 'coded-5')
    codec.fail(500)
    await coded.post('coded-5/signal/finish')
    const { status, body, headers } = await waiting
    codec.fail(500, 0)

    expect([status, body.error, body.workflowId, headers.get('Location'), headers.get('Retry-After')]).toEqual([
      424,
      'ResultUnreadableError',
      'coded-5',
      '/workflow/coded-5/result',
      null,
    ])
    expect(body.runId).toMatch(/./)
    expect((await coded.get('coded-5/result')).body.status).toBe('completed')
  })

  test('interrupted waits: the result of an update that cannot be decoded is not repeated, unless it has a key (failure 25)', async () => {
    announceErrors(/"error":"(?:ResultUnreadableError|PayloadCodecError)"/)
    await coded.start('messages', null, { workflowId: 'coded-6' })
    await running(coded, 'coded-6')
    const update = (headers: Record<string, string>) => coded.post('coded-6/update/wait', { payload: 1000 }, headers)
    const updating = [update({}), update({ 'Idempotency-Key': 'coded-6' })]
    // Each update is accepted by an event of its own, after a workflow task of three.
    await until('both are accepted', async () => (await coded.get('coded-6/status')).body.historyLength >= 9)
    codec.fail(503)

    const answers = await Promise.all(updating)
    codec.fail(503, 0)
    await coded.post('coded-6/terminate')

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      promisedError(25, '424 ResultUnreadableError'),
      promisedError(25, '502 PayloadCodecError'),
    ])
  })

  test('interrupted waits: no response waits for a codec server that hangs (failure 25)', async () => {
    announceErrors(/"error":"PayloadCodecError"/)
    await coded.run('nothing', null, { workflowId: 'coded-7' })
    const release = codec.hang()
    const read = await coded.get('coded-7/result')
    const start = await coded.start('echo', 1)
    release()
    const later = await coded.get('coded-7/result')

    for (const { status, body } of [read, start])
      expect([status, body.error]).toEqual(promisedError(25, '502 PayloadCodecError'))
    expect([later.status, later.body.status]).toEqual([200, 'completed'])
  })

  test('interrupted waits: an unreachable codec has its own error, and a read is retryable (failure 25)', async () => {
    announceErrors(/"error":"PayloadCodecError"/)
    await coded.run('nothing', null, { workflowId: 'coded-3' })
    await run(coded, 'echo', 'coded-4', '2m')
    codec.fail(500)
    const sentAt = runningMs()
    const read = await coded.get('coded-4/result')
    const failedAfterMs = runningMs() - sentAt
    const started = await coded.start('echo', 1)
    codec.fail(500, 0)

    const facts = ({ status, body, headers }: Answer) => [
      status,
      body.error,
      body.source,
      body.message,
      headers.get('Retry-After'),
    ]

    const failedTo = (verb: string) => {
      return [502, 'PayloadCodecError', 'gateway', `The codec server could not ${verb} the payloads.`, '1']
    }

    expect(facts(read)).toEqual(failedTo('decode'))
    expect(failedAfterMs).toBeLessThan(promisedMs(25, '2 s'))
    expect(facts(started)).toEqual(failedTo('encode'))
  })
})
