/** Workers that die, are not there, or can't run their own code. */
import { expect } from 'vitest'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { promisedError } from '../support/promises.ts'
import type { Service } from '../support/service.ts'
import { startWorkerProcess } from './start-worker-process.ts'

const MESSAGE_TIMEOUT_MS = 1500
const catalog = `workers-${crypto.randomUUID()}`

const test = sharedTest.extend('catalog', { scope: 'file' }, () => catalog)

let worker: RunningProcess
let service: Service
/** Its code fails, each time after a longer pause: it is started before all else. */
let failing: string

test.beforeAll(async ({ engine, startService, cleanup }) => {
  worker = await startWorkerProcess({ address: engine.address, catalog, cleanup })
  service = await startService({ env: { SERVICE_MESSAGE_TIMEOUT: `${MESSAGE_TIMEOUT_MS}` } })
  failing = await startFirstRun(service, 'failTask')
})

test('workers: a run whose worker is killed completes on another worker (failure 27)', async ({
  client: { workflow },
  startWorker,
}) => {
  const running = ['waitForSignal', 'longStep'].map((workflowName) =>
    service.run(workflowName, { ms: 1000 }, { workflowId: `${catalog}-${workflowName}`, timeout: '5m' }),
  )
  await until('the worker has both in hand', async () => {
    const { events } = await workflow.getHandle(`${catalog}-waitForSignal`).fetchHistory()
    const { raw } = await workflow.getHandle(`${catalog}-longStep`).describe()
    const waits = events?.some((event) => event.workflowTaskCompletedEventAttributes)
    return waits && raw.pendingActivities?.[0]?.state === 2
  })

  await worker.kill()
  const signalled = await service.post(`${catalog}-waitForSignal/signal/finish`, { payload: 'late' })
  await startWorker()

  expect(signalled.status).toBe(200)
  expect((await Promise.all(running)).map(({ status, body }) => [status, body.output])).toEqual([
    [200, ['late']],
    [200, 'done'],
  ])
})

test('workers: a query and an update without a worker time out, the update with its ids (failure 26)', async ({
  client: { workflow },
}) => {
  const run = await workflow.start('messages', { taskQueue: `${catalog}-nobody`, workflowId: `${catalog}-alone` })

  const order: string[] = []
  // The engine itself ends the messages after 20 s.
  const waiting = service.run('neverEnds', null, { timeout: '15s' }).finally(() => order.push('wait of 15 s'))
  const [query, update, keyed] = await Promise.all([
    service.post(`${run.workflowId}/query/state`),
    service.post(`${run.workflowId}/update/set`, { payload: 1 }),
    service.post(`${run.workflowId}/update/set`, { payload: 2 }, { 'Idempotency-Key': run.workflowId }),
  ]).finally(() => order.push('messages'))
  const { status: waited, body } = await waiting

  expect(order).toEqual(['messages', 'wait of 15 s'])
  await service.post(`${body.workflowId}/terminate`)
  await run.terminate()
  const late = promisedError(26, '504 DeadlineExceededError')
  expect([query, update, keyed].map(({ status, body }) => [status, body.error, body.workflowId])).toEqual([
    [...late, run.workflowId],
    [...promisedError(26, '424 OutcomeUnknownError'), run.workflowId],
    [...late, run.workflowId],
  ])
  expect([waited]).toEqual(promisedError(26, '424'))
  expect(update.body).toMatchObject({ runId: run.firstExecutionRunId, updateId: expect.any(String) })
})

test('workers: a workflow whose code fails accepts no queries and updates, and responses and log name the failure (failure 28)', async ({
  startService,
}) => {
  // Its messages have the default time.
  const patient = await startService()
  const query = await until('it has failed often enough', async () => {
    const answer = await patient.post(`${failing}/query/state`)
    return answer.status === 409 ? answer : null
  })

  const update = await patient.post(`${failing}/update/set`)
  const status = await patient.get(`${failing}/status`)
  await patient.post(`${failing}/terminate`)

  const requests = [query, update].map((answer) =>
    patient.events.find(({ message, requestId }) => message === 'request' && requestId === answer.body.requestId),
  )
  const notReady = promisedError(28, '409 WorkflowNotReadyError')
  expect([query, update].map(({ status, body }) => [status, body.error, body.source])).toEqual([
    [...notReady, 'engine'],
    [...notReady, 'engine'],
  ])
  const taskFailure = { name: 'Error', message: 'a bug in the workflow', cause: null }
  expect(requests).toMatchObject([
    { status: 409, taskFailure },
    { status: 409, taskFailure },
  ])
  expect([query, update, status].map(({ body }) => body.problem?.message)).toEqual([
    'a bug in the workflow',
    'a bug in the workflow',
    'a bug in the workflow',
  ])
})
