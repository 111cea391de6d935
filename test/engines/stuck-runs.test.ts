/** What `explain` says about runs that stand, with real workers that stop, are busy, or fail. */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { taskIdOf } from '../../src/service/fronts/mcp/tasks/tasks.ts'
import { startWorkerProcess } from '../faults/start-worker-process.ts'
import { callOfTask } from '../support/call-of-task.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

// The clocks of service and engine are the same here.
const PROMPT_MS = 2000

/** Explains the run until this is the verdict. No request may have had another one two seconds after `since`. */
async function explained(service: InProcessService, workflowId: string, verdict: string) {
  const others: [at: number, verdict: string][] = []
  const body = await until(`${workflowId} is ${verdict}`, async () => {
    const at = Date.now()
    const { status, body, text } = await service.get(`${workflowId}/explain`)
    if (status !== 200) throw new Error(text)
    if (body.verdict === verdict) return body
    others.push([at, body.verdict])
    return null
  })
  const late = others.filter(([at]) => at >= Date.parse(body.since) + PROMPT_MS)
  expect(late).toEqual([])
  return { ...body, first: body.reasons[0], kinds: body.reasons.map(({ kind }: { kind: string }) => kind) }
}

/** Starts a run whether its task queue has workers or not. */
async function started(client: Client, catalog: string, workflowName: string, input: unknown = null) {
  const workflowId = crypto.randomUUID()
  const handle = await client.workflow.start(workflowName, { workflowId, taskQueue: catalog, args: [input] })
  return { workflowId, runId: handle.firstExecutionRunId }
}

test('explain: no worker ever, known with the first request (failure 26)', async ({ service, client }) => {
  const { workflowId } = await started(client, `nobody-${crypto.randomUUID()}`, 'nothing', null)

  const { body } = await service.get(`${workflowId}/explain`)
  await service.post(`${workflowId}/terminate`)

  expect(body).toMatchObject({ verdict: 'no_workers', since: null })
})

test('explain: a start after the worker has stopped waits for a worker (failure 26)', async ({
  service,
  startWorker,
  client,
}) => {
  const catalog = `stopped-${crypto.randomUUID()}`
  await (await startWorker({ taskQueue: catalog })).stop()
  const { workflowId } = await started(client, catalog, 'nothing', null)

  const { first, kinds } = await explained(service, workflowId, 'waiting_worker')
  await service.post(`${workflowId}/terminate`)

  expect(kinds).toEqual(['waiting_worker'])
  expect(first).toMatchObject({ taskQueue: catalog, tasks: 'workflow', messages: [], action: null })
  expect(first.advice).toBe(
    `no worker has polled task queue ${catalog} since then: start a worker, or check whether the workers are at their limit`,
  )
  expect(Date.parse(first.lastPolledAt)).toBeLessThan(Date.parse(first.since))
})

test('explain and tasks: a signal after the worker has stopped waits for a worker, whenever that is read (failure 26)', async ({
  service,
  startWorker,
  client,
}) => {
  const catalog = `signaled-${crypto.randomUUID()}`
  const worker = await startWorker({ taskQueue: catalog })
  const run = await started(client, catalog, 'messages', null)
  const { workflowId } = run
  await explained(service, workflowId, 'waiting_handler')
  await worker.stop()
  await service.post(`${workflowId}/signal/add`, { payload: 1 })

  const { first, kinds, since } = await explained(service, workflowId, 'waiting_worker')
  // The engine gives the task to any worker once its own has not taken it for ten seconds.
  await until(
    'the task is scheduled again',
    async () => {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
      return (events ?? []).filter((event) => event.workflowTaskScheduledEventAttributes).length >= 3
    },
    { timeoutMs: 30_000 },
  )
  const later = await explained(service, workflowId, 'waiting_worker')
  const task = await callOfTask(service, 'tasks/get', { taskId: taskIdOf(run) })
  await service.post(`${workflowId}/terminate`)

  expect(kinds).toEqual(['waiting_worker'])
  expect(first.messages).toEqual(['signal add'])
  expect(later.since).toBe(since)
  const { statusMessage, lastUpdatedAt } = task.body.result
  expect(statusMessage).toBe(`waiting_worker since ${since}: ${first.advice}`)
  expect(lastUpdatedAt).toBe(since)
})

test('explain: once a worker is killed, its run waits for a message, and what it was to do waits for a worker (failure 26)', async ({
  service,
  startWorker,
  engine,
  client,
  cleanup,
}) => {
  const catalog = `killed-${crypto.randomUUID()}`
  const publisher = await startWorker({ taskQueue: catalog, catalog: testCatalog })
  await publisher.stop()
  const worker = await startWorkerProcess({ address: engine.address, catalog, cleanup })
  const approval = await started(client, catalog, 'finishesInTime')
  await explained(service, approval.workflowId, 'waiting_handler')
  // The worker then polls again for both kinds of tasks.
  await client.workflow.getHandle((await started(client, catalog, 'manySteps', { n: 1 })).workflowId).result()

  await worker.kill()
  const before = await explained(service, approval.workflowId, 'waiting_handler')
  await service.post(`${approval.workflowId}/signal/finish`)
  const start = await started(client, catalog, 'nothing')
  const step = await started(client, service.catalog, 'stepElsewhere', catalog)
  const runs = [approval, start, step]
  const after = await Promise.all(runs.map(({ workflowId }) => explained(service, workflowId, 'waiting_worker')))
  await Promise.all(runs.map(({ workflowId }) => service.post(`${workflowId}/terminate`)))

  expect(before.kinds).toEqual(['waiting_handler', 'waiting_timer'])
  expect(after.map(({ kinds }) => kinds)).toEqual([
    ['waiting_worker', 'waiting_timer'],
    ['waiting_worker'],
    ['waiting_worker', 'activity_running'],
  ])
  const ofWorkflow = { taskQueue: catalog, tasks: 'workflow', messages: [] }
  expect(after.map(({ first }) => first)).toMatchObject([
    { ...ofWorkflow, messages: ['signal finish'] },
    ofWorkflow,
    { ...ofWorkflow, tasks: 'activity' },
  ])
})

test('explain: of a worker at its limit, one activity runs and the other waits', async ({
  service,
  startWorker,
  client,
}) => {
  const catalog = `busy-${crypto.randomUUID()}`
  await startWorker({ taskQueue: catalog, options: { maxConcurrentActivityTaskExecutions: 1 } })
  const running = await started(client, catalog, 'longStep', { ms: 3_600_000 })
  await explained(service, running.workflowId, 'activity_running')
  const waiting = await started(client, catalog, 'longStep', { ms: 3_600_000 })

  const { first, kinds } = await explained(service, waiting.workflowId, 'waiting_worker')
  const again = await explained(service, running.workflowId, 'activity_running')
  await service.post(`${waiting.workflowId}/terminate`)
  await service.post(`${running.workflowId}/terminate`)

  expect(first).toMatchObject({ taskQueue: catalog, tasks: 'activity', messages: [] })
  expect(kinds).toEqual(['waiting_worker', 'activity_running'])
  expect(again.kinds).toEqual(['activity_running'])
})

test('explain: a worker that is busy with the workflow is not called missing', async ({ service, client }) => {
  const catalog = `executing-${crypto.randomUUID()}`
  const { workflowId } = await started(client, catalog, 'nothing', null)
  const poll = { namespace: 'default', taskQueue: { name: catalog }, identity: 'busy' }
  await client.withDeadline(Date.now() + 60_000, () => client.connection.workflowService.pollWorkflowTaskQueue(poll))
  const verdicts = new Set<string>()

  await until('three seconds have passed', async () => {
    const { body } = await service.get(`${workflowId}/explain`)
    verdicts.add(body.verdict)
    return Date.now() - Date.parse(body.since) > PROMPT_MS + 1000
  })
  await service.post(`${workflowId}/terminate`)

  expect([...verdicts]).toEqual(['healthy'])
})

test('explain: an approval with a deadline waits for its message, and says when it ends without', async ({
  service,
  client,
}) => {
  const { workflowId } = await started(client, service.catalog, 'finishesInTime')

  const { first, kinds } = await explained(service, workflowId, 'waiting_handler')
  await service.post(`${workflowId}/terminate`)

  expect(kinds).toEqual(['waiting_handler', 'waiting_timer'])
  expect(first.advice).toMatch(/^send signal finish, or wait until the timer at \d{4}-[\d:T.-]+Z$/)
})

test('explain: failing code, a retried activity and a paused run have their own verdict at once', async ({
  service,
  client,
}) => {
  const failing = await started(client, service.catalog, 'failTask')
  const retrying = await started(client, service.catalog, 'retriedLater')
  const paused = await started(client, service.catalog, 'messages')
  await explained(service, paused.workflowId, 'waiting_handler')
  const { status } = await service.post(`${paused.workflowId}/pause`)
  const ids = [failing, retrying, paused].map(({ workflowId }) => workflowId)

  const all = await Promise.all(
    ['workflow_task_failing', 'activity_retrying', 'paused'].map((verdict, at) =>
      explained(service, ids[at] ?? '', verdict),
    ),
  )
  await Promise.all(ids.map((id) => service.post(`${id}/terminate`)))

  expect(status).toBe(200)
  const post = ({ workflowId, runId }: typeof paused, action: string) => {
    return { method: 'POST', path: `/workflow/${workflowId}/runs/${runId}/${action}`, body: null }
  }
  const actions = [null, post(retrying, 'activities/1/retry'), post(paused, 'unpause')]
  expect(all.map(({ first }) => first.action)).toEqual(actions)
})

test('explain: a question has its form, for whom and until when it is, and the request that answers it', async ({
  service,
  client,
}) => {
  const askedAt = new Date().toISOString()
  const { workflowId, runId } = await started(client, service.catalog, 'asksPerson', { askedAt })

  const { first, kinds, since } = await explained(service, workflowId, 'waiting_answer')
  const { status } = await service.call(first.action.method, first.action.path, { content: { approved: true } })

  expect([kinds, since, status]).toEqual([['waiting_answer'], askedAt, 200])
  expect(first).toMatchObject({
    ...{ key: 'question-1', message: 'Refund 250 EUR?', signal: 'answer', to: ['finance'] },
    ...{ due: '2026-12-01T08:00:00.000Z', schema: { required: ['approved'] } },
    action: { path: `/workflow/${workflowId}/runs/${runId}/questions/question-1/answer`, body: null },
  })
})
