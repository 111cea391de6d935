/** The engine is paused while requests are in flight, with its sockets open, and resumes later. */

import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import type { RunningEngine } from '../../dev/servers/engine.ts'
import { openCalls } from '../../dev/servers/engine-metrics.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import {
  CATALOG_ENDPOINTS,
  callEach,
  type EndpointAnswer,
  runEndpoints,
  toStatusLines,
} from '../../test/faults/endpoints.ts'
import type { Answer, Api } from '../../test/support/api.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { parseMetrics, sumOf } from '../../test/support/prometheus.ts'
import { promisedError, promisedMs } from '../../test/support/promises.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { undisturbedClock } from './idle-clock.ts'
import { runningMs } from './running-ms.ts'
import { whenInTime } from './when-in-time.ts'

const UNREADY_MS = 3000

interface Seen {
  /** Of a service that remembers its catalog, and so gets as far as the endpoint's own call of the engine. */
  remembering: EndpointAnswer[]
  /** Of one that has to read it each time. */
  forgetful: EndpointAnswer[]
  /** An update, a query and an update-with-start that were waiting for their worker when it happened. */
  messages: Answer[]
  /** A start with a key that was sent when it happened. */
  keyed: Answer
  /** How long all of these took, which were sent or waiting when it happened. */
  answeredMs: number
  health: Answer
  capabilities: Answer
  unreadyAfterMs: number
  /** Calls of the engine that were counted as DEADLINE_EXCEEDED while it was paused. */
  callsUnanswered: number
  wellAfterMs: number
  waited: Answer
}

const test = testWithOwnEngine()
test.override('workerOptions', { catalog: testCatalog })

let engine: RunningEngine
let client: Client
let seen: Seen

test.beforeAll(async ({ engine: ownEngine, client: direct, serve, worker: _ }) => {
  engine = ownEngine
  client = direct
  seen = await freezeAndThaw(
    serve({ SERVICE_CATALOG_TTL: '10m', SERVICE_METRICS_ON: 'true' }),
    serve({ SERVICE_CATALOG_TTL: '0' }),
  )
})

/** A run that no worker will ever see: a query of it is answered by none. */
async function startForNobody(workflowId: string): Promise<void> {
  await client.workflow.start('any', { taskQueue: 'nobody', workflowId })
}

async function freezeAndThaw(remembering: Api, forgetful: Api): Promise<Seen> {
  await until('the catalog is published', async () => (await remembering.get('catalog')).status === 200)
  const start = async (workflowId: string): Promise<{ workflowId: string; runId: string }> =>
    (await remembering.start('messages', null, { workflowId })).body
  const [target, forgotten, busy] = await Promise.all([start('target'), start('forgotten'), start('busy')])
  const waiting = remembering.run('waitForSignal', null, { workflowId: 'waits', timeout: '10m' })
  await startForNobody('unheard')
  const messages = [
    remembering.post(`${busy.workflowId}/update/wait`, { payload: 600_000 }),
    remembering.post('unheard/query/state'),
    remembering.post('update-with-start/wait', {
      workflowName: 'messages',
      input: null,
      workflowId: 'begun',
      payload: 600_000,
    }),
  ]
  await until('the query is with the engine', async () => (await openCalls(engine.metricsUrl, 'QueryWorkflow')) === 1)
  await until('the updates are at work', async () => {
    const ids = [busy.workflowId, 'begun', 'waits']
    const [run, begun, waits] = await Promise.all(ids.map((id) => remembering.get(`${id}/status`)))
    return run?.body.historyLength >= 6 && begun?.body.historyLength >= 5 && waits?.status === 200
  })

  process.kill(engine.pid, 'SIGSTOP')
  const frozenAt = runningMs()
  const sinceThen = () => runningMs() - frozenAt
  const [health, capabilities, unreadyAfterMs, answers, otherAnswers, answered, keyed] = await Promise.all([
    remembering.call('GET', '/health'),
    remembering.call('GET', '/capabilities'),
    until('it is not ready', async () => (await remembering.call('GET', '/ready')).status === 503).then(sinceThen),
    callEach(remembering, runEndpoints(target)),
    callEach(forgetful, [...runEndpoints(forgotten), ...CATALOG_ENDPOINTS]),
    Promise.all(messages),
    remembering.post('start', { workflowName: 'nothing', input: null }, { 'Idempotency-Key': 'frozen' }),
  ])
  const answeredMs = sinceThen()
  const samples = parseMetrics((await remembering.call('GET', '/metrics')).text)
  const code = { rpc_response_status_code: 'DEADLINE_EXCEEDED' }
  const callsUnanswered = sumOf(samples, 'rpc_client_call_duration_seconds_count', code)

  process.kill(engine.pid, 'SIGCONT')
  await client.workflowService.getSystemInfo({})
  const thawedAt = runningMs()
  const passedMs = undisturbedClock(engine)
  await whenInTime('a run starts', () => remembering.start('messages', null, { workflowId: 'after' }))
  const wellAfterMs = await until('all is well', async () => {
    const sentAfterMs = Math.min(runningMs() - thawedAt, passedMs())
    const all = await Promise.all([
      remembering.call('GET', '/ready'),
      remembering.get('after/status'),
      remembering.post('after/query/state'),
      remembering.post('after/update/set', { payload: 1 }),
      forgetful.get('catalog'),
      forgetful.run('nothing'),
    ])
    if (all.some(({ status }) => status !== 200)) throw new Error(all.map(({ text }) => text).join())
    return sentAfterMs
  })

  await whenInTime('the run is signaled', () => remembering.post('waits/signal/finish', { payload: 'thawed' }))
  const seenBy = {
    remembering: answers,
    forgetful: otherAnswers,
    messages: answered,
    keyed,
    answeredMs,
    callsUnanswered,
  }
  return { ...seenBy, health, capabilities, unreadyAfterMs, wellAfterMs, waited: await waiting }
}

test('engine frozen: every endpoint reports it within 5 s (failure 2)', () => {
  const answers = [...seen.remembering, ...seen.forgetful]

  expect(
    toStatusLines(answers).filter((line) => !/ (?:424 OutcomeUnknownError|503 EngineUnavailableError)$/.test(line)),
  ).toEqual([])
  expect(seen.answeredMs).toBeLessThan(promisedMs(2, '5 s'))
  expect(seen.callsUnanswered).toBeGreaterThan(0)
})

test('engine frozen: capabilities are available, without the engine’s version', () => {
  const { status, body } = seen.capabilities

  expect([status, body.engine]).toEqual([200, { version: null, uiUrl: null }])
})

test('engine frozen: a message that waits for its worker ends early, and a key makes its error repeatable (failure 2)', () => {
  const { messages, keyed } = seen

  const unknown = promisedError(2, '424 OutcomeUnknownError')
  expect(messages.map(({ status, body }) => [status, body.error, body.workflowId])).toEqual([
    [...unknown, 'busy'],
    [503, 'EngineUnavailableError', 'unheard'],
    [...unknown, 'begun'],
  ])
  expect([keyed.status]).toEqual(promisedError(2, '503'))
  const { body, headers } = messages[2] ?? {}
  expect([body.updateId, headers?.get('Retry-After')]).toEqual([expect.stringMatching(/./), null])
})

test('engine frozen: a request that may have arrived has no Retry-After (failure 2)', () => {
  const writes = /^POST \/workflow\/(?:start|run|update-with-start|.*\/(?:signal|update))/
  const inviting = seen.remembering.filter(
    ({ endpoint, headers }) => writes.test(endpoint) && headers.has('Retry-After'),
  )

  expect(inviting).toEqual([])
})

test('engine frozen: the process stays healthy and is not ready within 3 s', () => {
  const { health, unreadyAfterMs } = seen

  expect(health.status).toBe(200)
  expect(unreadyAfterMs).toBeLessThan(UNREADY_MS)
})

test('engine frozen: every endpoint works 2 s after the engine resumes (failure 2)', () => {
  expect(seen.wellAfterMs).toBeLessThan(promisedMs(2, '2 s'))
})

test('engine frozen: a wait continues until its result (failure 2)', () => {
  const { status, body } = seen.waited

  expect([status, body.status, body.output]).toEqual([200, 'completed', ['thawed']])
})
