/** The engine's own limits, set small. (Its visibility rate is met by no route so far.) */

import { Client, type Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { callsDuring } from '../../dev/servers/engine-metrics.ts'
import type { RunningEngine } from '../../src/cli/dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/lib/map-concurrent.ts'
import type { Answer, Api } from '../support/api.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

const MAX_POLLS = 6
const MAX_HISTORY = 60

const test = testWithOwnEngine({
  dynamicConfig: {
    'frontend.namespaceCount': MAX_POLLS,
    'history.maxInFlightUpdates': 2,
    'limit.blobSize.warn': 1000,
    'limit.blobSize.error': 20_000,
    'limit.historyCount.warn': MAX_HISTORY - 10,
    'limit.historyCount.error': MAX_HISTORY,
  },
})
test.override('workerOptions', {
  catalog: testCatalog,
  // Else its polls alone would be too many for this engine.
  options: {
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  },
})

let engine: RunningEngine
let connection: Connection
let api: Api

test.beforeAll(async ({ service, engine: ownEngine, connection: direct }) => {
  engine = ownEngine
  connection = direct
  api = service
  await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
})

async function startRun(workflowName: string, input: unknown = null): Promise<string> {
  return (await api.start(workflowName, input)).body.workflowId
}

function facts({ status, body, headers }: Answer) {
  return [status, body.error, body.source, headers.get('Retry-After')]
}

test('limits: pause and unpause are 501 where the namespace does not allow them, and the capabilities say so', async () => {
  const id = await startRun('neverEnds')
  const length = async () => (await api.get(`${id}/status`)).body.historyLength
  await until('its workflow task has completed', async () => (await length()) >= 4)

  const rejected = [await api.post(`${id}/pause`), await api.post(`${id}/unpause`)]
  const { body } = await api.call('GET', '/capabilities')

  expect(rejected.map(facts)).toEqual([
    [501, 'NotSupportedError', 'gateway', null],
    [501, 'NotSupportedError', 'gateway', null],
  ])
  for (const { body } of rejected) expect(body.message).toContain('GET /capabilities: pause')
  expect(body.features.pause).toBe(false)
  await api.post(`${id}/terminate`)
})

test('limits: hundreds of runs return their result to two services that may open more polls than the engine allows', async ({
  serve,
}) => {
  // All runs are started at the same time.
  const env = { SERVICE_MAX_POLLS: String(MAX_POLLS - 1), SERVICE_MAX_INFLIGHT: '200' }
  const services = [serve(env), serve(env)]
  const ids = Array.from({ length: 200 }, (_, number) => `waits-${number}`)
  const beganAt = Date.now()
  let answers: Answer[] = []

  const calls = await callsDuring(engine.metricsUrl, async () => {
    const waiting = services.flatMap((service, index) =>
      ids
        .filter((_, number) => number % services.length === index)
        .map((workflowId) => service.run('neverEnds', null, { workflowId, timeout: '5m' })),
    )
    await until('all of them run', async () => (await countRunning('neverEnds')) === ids.length)
    const open = await Promise.all(services.map((service) => service.run('neverEnds', null, { timeout: '5s' })))
    await mapConcurrent(ids, 10, terminate)
    answers = [...(await Promise.all(waiting)), ...open]
  })
  const seconds = (Date.now() - beganAt) / 1000

  const facts = answers.map(({ status, body }) => `${status} ${body.workflowStatus ?? body.status}`)
  expect(facts.toSorted()).toEqual([...ids.map(() => '200 terminated'), ...services.map(() => '408 running')])
  expect(new Set(answers.map(({ body }) => body.workflowId)).size).toBe(answers.length)
  const {
    PollWorkflowExecutionHistory: polls = 0,
    GetWorkflowExecutionHistoryReverse: reads = 0,
    ListWorkflowExecutions: queries = 0,
  } = calls
  // Of each run: the polls and reads for its start and end. Of each service: for its two lookups per second.
  expect(polls).toBeLessThanOrEqual(2 * answers.length + services.length * 10 * seconds)
  expect(reads).toBeLessThanOrEqual(2 * answers.length + services.length * 20 * seconds)
  expect(queries).toBeLessThanOrEqual(services.length * 2 * seconds)
  expect(queries).toBeGreaterThan(0)
})

async function countRunning(workflowType: string): Promise<number> {
  const query = `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`
  const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query })
  return Number(count)
}

async function terminate(workflowId: string): Promise<void> {
  await connection.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
  })
}

test('limits: one update above the concurrent maximum of a run is a 429', async () => {
  const workflowId = await startRun('messages')
  const waiting = [1, 2].map(() => api.post(`${workflowId}/update/wait`, { payload: 600_000 }))
  const { workflow } = new Client({ connection })
  await until('both are in flight', async () => {
    const { events } = await workflow.getHandle(workflowId).fetchHistory()
    return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length === 2
  })

  const third = await api.post(`${workflowId}/update/wait`, { payload: 1 })
  await api.post(`${workflowId}/terminate`)

  expect(facts(third)).toEqual([429, 'ResourceExhaustedError', 'engine', '1'])
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([409, 409])
})

test('limits: a payload above the engine’s limit is a 413 and harms no run, except by update, where only our own limit protects it', async () => {
  const workflowId = await startRun('messages')
  const large = 'x'.repeat(30_000)

  const answers = await Promise.all([
    api.start('echo', large),
    api.run('echo', large),
    api.post(`${workflowId}/signal/add`, { payload: large }),
    api.post(`${workflowId}/query/echo`, { payload: large }),
  ])

  expect(answers.map(facts)).toEqual(answers.map(() => [413, 'PayloadTooLargeError', 'engine', null]))
  expect((await api.post(`${workflowId}/query/state`)).body).toEqual({ gathered: [], value: null })
})

test('limits: a signal that makes the history too long ends the run, and the error says so', async () => {
  // Without a worker, because a workflow task could also end the run.
  const { workflowId } = await new Client({ connection }).workflow.start('any', {
    taskQueue: 'nobody',
    workflowId: 'grows',
  })
  const answers: Answer[] = []
  for (let sent = 0; sent <= MAX_HISTORY; sent++) answers.push(await api.post(`${workflowId}/signal/any`))

  const rejected = answers.filter(({ status }) => status !== 200)

  expect(rejected.map(({ status, body }) => [status, body.error, body.workflowStatus])).toEqual(
    rejected.map(() => [409, 'WorkflowNotRunningError', 'terminated']),
  )
  expect(rejected.length).toBeGreaterThan(1)
})

test('limits: a signal-with-start that makes the history too long ends the run, and the error says so', async () => {
  const workflowId = 'grows-too'
  await new Client({ connection }).workflow.start('any', { taskQueue: 'nobody', workflowId })
  const body = { workflowName: 'messages', input: null, workflowId, memo: { a: 1 } }
  let answer = await api.post('signal-with-start/any', body)
  for (let sent = 0; sent <= MAX_HISTORY && answer.status === 200; sent++)
    answer = await api.post('signal-with-start/any', body)

  expect([answer.status, answer.body.error, answer.body.workflowStatus]).toEqual([
    409,
    'WorkflowNotRunningError',
    'terminated',
  ])
})

test('limits: an update that makes the history too long ends the run, and the error says so', async () => {
  const workflowId = await startRun('messages')
  const answers: Answer[] = []
  for (let sent = 0; sent <= MAX_HISTORY / 4; sent++)
    answers.push(await api.post(`${workflowId}/update/set`, { payload: sent }))

  const rejected = answers.filter(({ status }) => status !== 200)

  expect(rejected.map(({ status, body }) => [status, body.error, body.workflowStatus])).toEqual(
    rejected.map(() => [409, 'WorkflowNotRunningError', 'terminated']),
  )
  expect(rejected.length).toBeGreaterThan(1)
})

test('limits: a run whose history grows too long during a wait is terminated, with the reason', async () => {
  const { status, body } = await api.run('manySteps', { n: 30 }, { timeout: '20s' })

  expect([status, body.status, body.error]).toEqual([200, 'terminated', expect.stringContaining('history')])
})
