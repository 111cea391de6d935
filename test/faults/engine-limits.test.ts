/** The engine's own limits, set small. (Its visibility rate is met by no route so far.) */

import { Client, type Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { activityCalls } from '../conformance/activities-alone.ts'
import { type Answer, type Api, makeApi } from '../support/api.ts'
import { type InProcessService, testWithOwnEngine } from '../support/fixtures.ts'
import { promisedError } from '../support/promises.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { tokenOf, tokenRule } from './access/callers.ts'

const MAX_HISTORY = 60

const test = testWithOwnEngine({
  dynamicConfig: {
    'activity.enableStandalone': false,
    'history.maxInFlightUpdates': 2,
    'limit.blobSize.warn': 1000,
    'limit.blobSize.error': 20_000,
    'limit.historyCount.warn': MAX_HISTORY - 10,
    'limit.historyCount.error': MAX_HISTORY,
  },
})
test.override('workerOptions', { catalog: testCatalog })

let connection: Connection
let api: Api
let serve: (env: Record<string, string>) => InProcessService

test.beforeAll(async ({ service, serve: serveMore, connection: direct }) => {
  serve = serveMore
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

test('limits: each request about activities without a workflow is 501 where the namespace has none', async () => {
  const policy = {
    version: 1,
    rules: [tokenRule('typed', { can: ['activity:echoBack'] })],
  }
  const typed = makeApi({ fetch: serve({ SERVICE_POLICY: JSON.stringify(policy) }).fetch, token: tokenOf('typed') })
  const answers = await Promise.all(
    [api, typed].flatMap((by) => {
      const { start, run, get, post, stop } = activityCalls(by)
      const reports = [post('complete'), post('fail', { message: 'no' }), post('heartbeat')]
      const reads = [get('status'), get('result?wait=1s'), by.call('GET', '/activity/runs')]
      return [start('echoBack'), run('echoBack'), stop(), post('terminate'), ...reports, ...reads]
    }),
  )
  const { body } = await api.call('GET', '/capabilities')

  expect(answers.map(facts)).toEqual(answers.map(() => [501, 'NotSupportedError', 'gateway', null]))
  for (const { body } of answers) expect(body.message).toContain('GET /capabilities: standaloneActivities')
  expect(body.features.standaloneActivities).toBe(false)
})

test('limits: one update above the concurrent maximum of a run is a 429 (failure 10)', async () => {
  const workflowId = await startRun('messages')
  const waiting = [1, 2].map(() => api.post(`${workflowId}/update/wait`, { payload: 600_000 }))
  const { workflow } = new Client({ connection })
  await until('both are in flight', async () => {
    const { events } = await workflow.getHandle(workflowId).fetchHistory()
    return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length === 2
  })

  const third = await api.post(`${workflowId}/update/wait`, { payload: 1 })
  await api.post(`${workflowId}/terminate`)

  expect(facts(third)).toEqual([...promisedError(10, '429'), 'ResourceExhaustedError', 'engine', '1'])
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([409, 409])
})

test('limits: a payload above the engine’s limit is a 413 and harms no run, except by update, where only our own limit protects it (threat 56) (failure 10)', async () => {
  const workflowId = await startRun('messages')
  const large = 'x'.repeat(30_000)

  const answers = await Promise.all([
    api.start('echo', large),
    api.run('echo', large),
    api.post(`${workflowId}/signal/add`, { payload: large }),
    api.post(`${workflowId}/query/echo`, { payload: large }),
  ])

  expect(answers.map(facts)).toEqual(
    answers.map(() => [...promisedError(10, '413'), 'PayloadTooLargeError', 'engine', null]),
  )
  expect((await api.post(`${workflowId}/query/state`)).body).toEqual({ gathered: [], value: null })
})

test('limits: a signal that makes the history too long ends the run, and the error says so (failure 10)', async () => {
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
