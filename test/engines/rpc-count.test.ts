/** How many calls of the engine it takes to start runs, to send them messages, and to change them. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { ended as batchEnded, startListed } from '../conformance/batches.ts'
import { UNANSWERED_MS } from '../conformance/engine/engine-fixture.ts'
import { aSchedule, scheduleCalls } from '../conformance/schedules.ts'
import { test } from '../support/fixtures.ts'
import { countEngineCalls } from './rpc-count-fixture.ts'

// At once, and more would take a slow engine longer than a request may take.
const MANY = 10

const { counted, ended, get, post, serveCounted, served, start } = countEngineCalls()

test('start 1; run 2, the start and one poll', async () => {
  const starting = () => Promise.all([start('nothing'), ended('echo', 1)])

  expect(await counted(starting)).toEqual({ StartWorkflowExecution: 2, PollWorkflowExecutionHistory: 1 })
})

test('validate: 0; 1 for a rejection, which is never based on a cached catalog', async () => {
  const validate = (workflowName: string) => post('validate', { workflowName, input: 1 })

  expect(await counted(() => validate('echo'))).toEqual({})
  expect(await counted(() => validate('no-such-workflow'))).toEqual({ DescribeWorkflowExecution: 1 })
})

test('start with options, and a message with headers: no more than without', async () => {
  const options = { memo: { a: 1 }, retry: { maximumAttempts: 2 }, workflowIdConflictPolicy: 'use-existing' }
  const workflowId = crypto.randomUUID()
  const body = { workflowName: 'waitForSignal', input: null, workflowId, ...options }

  const calls = await counted(() => post('start', body))
  const signaling = () => post(`${workflowId}/signal/finish`, { headers: { a: 1 } })

  expect(calls).toEqual({ StartWorkflowExecution: 1 })
  expect(await counted(signaling)).toEqual({ SignalWorkflowExecution: 1 })
})

test('start without a catalog: 2 more, one for each form of a catalog; many at once share them', async ({
  startWorker,
}) => {
  const plain = await startWorker({ taskQueue: `plain-${crypto.randomUUID()}` })
  const startPlain = () => served().start('nothing', null, { catalog: plain.taskQueue })
  await startPlain()

  const one = await counted(startPlain)
  const many = await counted(() => Promise.all(Array.from({ length: MANY }, startPlain)))
  await plain.stop()

  expect(one).toEqual({ DescribeWorkflowExecution: 2, StartWorkflowExecution: 1 })
  expect(many).toMatchObject({ StartWorkflowExecution: MANY })
  expect(many.DescribeWorkflowExecution).toBeLessThanOrEqual(MANY / 2)
})

test('run: one poll more for each link of a chain, and one read for the input of the last', async () => {
  const calls = await counted(() => ended('chain', { links: 3 }))
  expect(calls).toEqual({ StartWorkflowExecution: 1, PollWorkflowExecutionHistory: 3, GetWorkflowExecutionHistory: 1 })
})

test('run with Prefer: respond-async: the start alone', async () => {
  const body = { workflowName: 'nothing', input: null }

  expect(await counted(() => served().post('run', body, { Prefer: 'respond-async' }))).toEqual({
    StartWorkflowExecution: 1,
  })
})

test('run, reconnecting: one read instead of a start; nothing for a client that has the result', async () => {
  const { body: ran } = await served().run('echo', 1)
  const { body } = await served().run('echo', 2)
  const reconnect = (run: typeof ran, suffix = '') =>
    served().post(
      'run',
      { workflowName: 'echo', input: 1 },
      { Accept: 'text/event-stream', 'Last-Event-ID': `${run.workflowId}/${run.runId}${suffix}` },
    )

  expect(await counted(() => reconnect(ran))).toEqual({ GetWorkflowExecutionHistory: 1 })
  expect(await counted(() => reconnect(body, '@end'))).toEqual({})
})

test('signal, query, update: 1', async () => {
  const id = await start('messages')
  await post(`${id}/query/state`)
  const sending = async () => {
    await post(`${id}/signal/add`, { payload: 1 })
    await post(`${id}/query/state`)
    await post(`${id}/update/set`, { payload: 1 })
  }

  expect(await counted(sending)).toEqual({ SignalWorkflowExecution: 1, QueryWorkflow: 1, UpdateWorkflowExecution: 1 })
})

test('a message to a run that was started elsewhere: 1 read for the first, 1 more for a rejected one', async () => {
  const other = serveCounted()
  const elsewhere = async (path: string, body: unknown = {}) => (await other.post(path, body)).status
  const id = await start('messages')
  await other.run('echo', 'warm')
  await post(`${id}/query/state`)

  const first = await counted(() => elsewhere(`${id}/query/state`))
  const second = await counted(() => elsewhere(`${id}/update/validated`, { payload: 1 }))
  const later = await counted(async () => {
    await elsewhere(`${id}/update/validated`, { payload: 2 })
    await elsewhere(`${id}/signal/add`, { payload: 2 })
  })
  const rejected = await until('a message is answered in time', async () => {
    let status = 0
    const calls = await counted(async () => {
      status = await elsewhere(`${id}/update/validated`, { payload: 'x' })
    })
    // If run and catalog are not read within half a second, it is sent unchecked, and the workflow rejects it.
    const isUnchecked = calls.UpdateWorkflowExecution === 1 && calls.DescribeWorkflowExecution === 2
    return !isUnchecked && { status, calls }
  })
  await other.close()

  expect(rejected.status).toBe(400)
  expect([first, second, later, rejected.calls]).toEqual([
    { DescribeWorkflowExecution: 1, QueryWorkflow: 1 },
    { UpdateWorkflowExecution: 1 },
    { UpdateWorkflowExecution: 1, SignalWorkflowExecution: 1 },
    // The run, and the catalog.
    { DescribeWorkflowExecution: 2 },
  ])
})

test('an asynchronous update 1; reading it 1, and awaiting it 1 if it completes in time', async () => {
  const id = await start('messages')
  const prefer = { Prefer: 'respond-async' }
  let path = ''
  const sending = async () => {
    path = (await served().post(`${id}/update/void`, undefined, prefer)).headers.get('Location') ?? ''
  }
  const reading = () => Promise.all([served().call('GET', path), served().call('GET', `${path}?wait=10s`)])

  expect(await counted(sending)).toEqual({ UpdateWorkflowExecution: 1 })
  expect(await counted(reading)).toEqual({ PollWorkflowExecutionUpdate: 2 })
  await post(`${id}/terminate`)
})

test('signal-with-start, update-with-start: 1, whether it starts the run or finds it', async () => {
  const body = { workflowName: 'messages', input: null, workflowId: crypto.randomUUID(), payload: 1 }
  const other = { ...body, workflowId: crypto.randomUUID() }
  const sending = async () => {
    await post('signal-with-start/add', other)
    await post('signal-with-start/finish', other)
    await post('update-with-start/set', body)
    await post('update-with-start/set', body)
  }

  expect(await counted(sending)).toEqual({ SignalWithStartWorkflowExecution: 2, ExecuteMultiOperation: 2 })
})

test('reset 3, for the description, the history and the reset; pause and unpause 2', async () => {
  const id = await ended('manySteps', { n: 2 })
  const open = await start('messages')
  // Otherwise its first workflow task may be pending, for which a pause waits.
  await post(`${open}/query/state`)
  const pausing = async () => {
    await post(`${open}/pause`)
    await post(`${open}/unpause`)
  }

  const reset = await counted(() => post(`${id}/reset`, { stepName: 'step' }))
  expect(reset).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistory: 1, ResetWorkflowExecution: 1 })
  const paused = await counted(pausing)
  expect(paused).toEqual({ DescribeWorkflowExecution: 2, PauseWorkflowExecution: 1, UnpauseWorkflowExecution: 1 })
  await post(`${open}/terminate`)
})

test('complete, fail, cancel and heartbeat 2, for the description; with a key, or for an activity that is over, 1 more', async () => {
  const waiting = async () => {
    const { body } = await served().start('completesOutside', { retryInterval: '1h', staysOpen: true })
    const activity = `${body.workflowId}/activities/approval`
    await until('the activity waits', async () => (await post(`${activity}/heartbeat`)).status === 200)
    return activity
  }
  const [activity, keyed, other] = [await waiting(), await waiting(), await waiting()]
  await served().call('PATCH', `/workflow/${other.split('/')[0]}/stop`)
  await until('it is being canceled', async () => (await post(`${other}/heartbeat`)).body.cancelRequested)
  const sendKeyed = () => served().post(`${keyed}/complete`, {}, { 'Idempotency-Key': 'once' })
  const lookup = { DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 }

  expect(await counted(() => post(`${activity}/heartbeat`))).toEqual({
    DescribeWorkflowExecution: 1,
    RecordActivityTaskHeartbeatById: 1,
  })
  expect(await counted(() => post(`${activity}/fail`, { message: 'later' }))).toEqual({
    DescribeWorkflowExecution: 1,
    RespondActivityTaskFailedById: 1,
  })
  expect(await counted(() => post(`${other}/cancel`))).toEqual({
    DescribeWorkflowExecution: 1,
    RespondActivityTaskCanceledById: 1,
  })
  expect(await counted(() => post(`${activity}/complete`))).toEqual({
    DescribeWorkflowExecution: 1,
    RespondActivityTaskCompletedById: 1,
  })
  expect(await counted(() => post(`${activity}/complete`))).toEqual(lookup)
  expect(await counted(sendKeyed)).toEqual({ ...lookup, RespondActivityTaskCompletedById: 1 })
  expect(await counted(sendKeyed)).toEqual(lookup)
  for (const path of [activity, keyed, other]) await post(`${path.split('/')[0]}/terminate`)
})

test('a repair of an activity 2, for the description and the repair; options of a run 2', async () => {
  const { body } = await served().start('completesOutside', { retryInterval: '1h', staysOpen: true })
  const activity = `${body.workflowId}/activities/approval`
  await until('the activity waits', async () => (await post(`${activity}/heartbeat`)).status === 200)
  await post(`${activity}/fail`, { message: 'later' })
  const patch = (path: string, change: object) => served().call('PATCH', `/workflow/${path}`, change)
  const statuses: number[] = []
  const count = (send: () => Promise<{ status: number }>) =>
    counted(async () => void statuses.push((await send()).status))

  const counts = [
    await count(() => patch(activity, { heartbeatTimeout: '2m' })),
    await count(() => post(`${activity}/pause`)),
    await count(() => post(`${activity}/retry`)),
    await count(() => post(`${activity}/unpause`)),
    await count(() => patch(`${body.workflowId}/options`, { priority: { priorityKey: 2 } })),
  ]
  await post(`${body.workflowId}/terminate`)

  expect(statuses).toEqual(counts.map(() => 200))
  expect(counts).toEqual(
    [
      'UpdateActivityExecutionOptions',
      'PauseActivityExecution',
      'ResetActivityExecution',
      'UnpauseActivityExecution',
      'UpdateWorkflowExecutionOptions',
    ].map((method) => ({ DescribeWorkflowExecution: 1, [method]: 1 })),
  )
})

test('questions of a run or of all runs 1; an answer 5, with the signal and two reads each of run and history; repeated 2', async () => {
  const id = await start('asksPerson', {})
  await until('it asks', async () => (await get(`${id}/questions`)).body.questions.length > 0)
  const answer = () => post(`${id}/questions/question-1/answer`, { content: { approved: true } })

  expect(await counted(() => get(`${id}/questions`))).toEqual({ DescribeWorkflowExecution: 1 })
  expect(await counted(() => served().call('GET', '/questions?workflowName=asksPerson'))).toEqual({
    ListWorkflowExecutions: 1,
  })
  expect(await counted(answer)).toEqual({
    DescribeWorkflowExecution: 2,
    GetWorkflowExecutionHistoryReverse: 2,
    SignalWorkflowExecution: 1,
  })
  expect(await counted(answer)).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 })
})

test('signal to a closed run, query without a handler: one look more', async () => {
  const id = await start('messages')
  const closed = await ended('nothing')
  await post(`${id}/query/state`)
  const sending = async () => {
    await post(`${closed}/signal/add`)
    await post(`${id}/query/nope`)
  }

  expect(await counted(sending)).toEqual({ SignalWorkflowExecution: 1, DescribeWorkflowExecution: 1, QueryWorkflow: 2 })
})

test('a query or an update that no worker answers: one look at its run, and one read where its workflow task fails', async () => {
  const hasty = serveCounted({ SERVICE_MESSAGE_TIMEOUT: `${UNANSWERED_MS}` })
  const unanswered = async (status: number, path: string, body: unknown = {}) =>
    expect((await hasty.post(path, body)).status).toBe(status)
  const [failing, slow] = await Promise.all([start('failTask'), start('messages')])
  await post(`${slow}/query/state`)
  await until('it has failed', async () => (await get(`${failing}/status`)).body.problem)
  const updates = () => unanswered(424, `${slow}/update/wait`, { args: [20000] })
  // A message is sent unchecked, and the reading continues, if run and catalog are not read in half a second.
  // The last call shows whether the workflow has accepted the update.
  const known = { UpdateWorkflowExecution: 1, DescribeWorkflowExecution: 1, PollWorkflowExecutionUpdate: 1 }
  await until('run and catalog are known', async () => isDeepStrictEqual(await counted(updates), known))

  const healthy = await counted(updates)
  const query = await counted(() => unanswered(504, `${failing}/query/state`))
  await Promise.all([hasty.close(), ...[failing, slow].map((id) => post(`${id}/terminate`))])

  expect(healthy).toEqual(known)
  // One of the descriptions is that of the first message to a run that was started elsewhere.
  expect(query).toEqual({ QueryWorkflow: 1, DescribeWorkflowExecution: 2, GetWorkflowExecutionHistoryReverse: 1 })
})

test('stop and terminate: 2, and 1 on a closed run', async () => {
  const id = await start('neverEnds')
  const other = await start('neverEnds')
  const ending = async () => {
    await served().call('PATCH', `/workflow/${id}/stop`)
    await post(`${other}/terminate`)
  }
  const endingAgain = async () => {
    await served().call('PATCH', `/workflow/${other}/stop`)
    await post(`${other}/terminate`)
  }

  expect(await counted(ending)).toEqual({
    DescribeWorkflowExecution: 2,
    RequestCancelWorkflowExecution: 1,
    TerminateWorkflowExecution: 1,
  })
  expect(await counted(endingAgain)).toEqual({ DescribeWorkflowExecution: 2 })
})

test('publish 3, for the description, the query for the stream and the signal; 2 afterwards', async () => {
  const id = await start('streamSignals', {})
  const publish = () => counted(() => post(`${id}/stream`, { topic: 'tokens', data: 1 }))

  const counts = [await publish(), await publish()]
  await post(`${id}/signal/finish`)

  const later = { DescribeWorkflowExecution: 1, SignalWorkflowExecution: 1 }
  expect(counts).toEqual([{ ...later, QueryWorkflow: 1 }, later])
})

test('a token for a browser: 0; a webhook: as many as the request that it becomes', async () => {
  const hooks = {
    orders: { scheme: 'token', secretEnv: 'SERVICE_HOOK_ORDERS', argument: 'body', start: { workflowName: 'echo' } },
  }
  const service = serveCounted({
    SERVICE_POLICY: JSON.stringify({ version: 1, rules: [], hooks }),
    SERVICE_API_AUTH_TOKEN: 'operator-of-the-counted-service',
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 'signing-key').toString('base64url'),
    SERVICE_HOOK_ORDERS: 'secret-of-the-sender',
  })
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
  const createToken = () =>
    service.call('POST', '/tokens', { can: ['read'] }, bearer('operator-of-the-counted-service'))
  const deliver = () => service.call('POST', '/hooks/orders', { id: 1 }, bearer('secret-of-the-sender'))

  // The catalog is cached.
  await service.call('GET', '/workflow/catalog', undefined, bearer('operator-of-the-counted-service'))

  const statuses: number[] = []
  const count = (send: typeof deliver) => counted(async () => void statuses.push((await send()).status))
  const counts = [await count(createToken), await count(deliver)]
  await service.close()

  expect(statuses).toEqual([201, 202])
  expect(counts).toEqual([{}, { StartWorkflowExecution: 1 }])
})

test('a schedule: created 2, replaced 3, with its version 3; other requests 1', async () => {
  const { id, put, get, remove, post, times } = scheduleCalls(served())
  const path = `/schedules?query=${encodeURIComponent(`ScheduleId = "${id}"`)}`
  await get()

  expect(await counted(() => put())).toEqual({ CreateSchedule: 1, DescribeSchedule: 1 })
  expect(await counted(() => put())).toEqual({ CreateSchedule: 1, UpdateSchedule: 1, DescribeSchedule: 1 })
  const { version } = (await get()).body
  const conditional = () => put(aSchedule({ paused: true }), { 'If-Match': `"${version}"` })
  expect(await counted(conditional)).toEqual({ UpdateSchedule: 1, DescribeSchedule: 2 })
  expect(await counted(get)).toEqual({ DescribeSchedule: 1 })
  expect(await counted(() => times('2026-12-01T00:00:00Z', '2026-12-01T01:00:00Z'))).toEqual({
    ListScheduleMatchingTimes: 1,
  })
  expect(await counted(() => served().call('GET', path))).toEqual({ ListSchedules: 1 })
  expect(await counted(() => post('pause'))).toEqual({ PatchSchedule: 1 })
  expect(await counted(() => post('trigger'))).toEqual({ PatchSchedule: 1 })
  expect(await counted(() => remove())).toEqual({ DeleteSchedule: 1 })
})

test('a batch: the list and 1, with a key 1 more; to read, list and stop it 1, one more if it has ended', async () => {
  const filter = await startListed(served(), [`counted-${crypto.randomUUID()}`], 'messages')
  const body = { operation: 'signal', signal: 'add', filter }
  const create = async (key: Record<string, string>) => {
    let batchId = ''
    const calls = await until('no other batch is running', async () => {
      let status = 0
      const counts = await counted(async () => {
        const answer = await served().call('POST', '/batches', body, key)
        batchId = answer.body.batchId
        status = answer.status
      })
      return status !== 429 && counts
    })
    await batchEnded(served(), batchId)
    return { calls, path: `/batches/${batchId}` }
  }
  const call = (method: string, path: string) => counted(() => served().call(method, path))

  const { calls, path } = await create({})
  const keyed = await create({ 'Idempotency-Key': crypto.randomUUID() })

  expect(calls).toEqual({ ListWorkflowExecutions: 1, StartBatchOperation: 1 })
  expect(keyed.calls).toEqual({ DescribeBatchOperation: 1, ListWorkflowExecutions: 1, StartBatchOperation: 1 })
  expect(await call('GET', path)).toEqual({ DescribeBatchOperation: 1 })
  expect(await call('GET', '/batches')).toEqual({ ListBatchOperations: 1 })
  expect(await call('POST', `${path}/stop`)).toEqual({ StopBatchOperation: 1, DescribeBatchOperation: 1 })
})
