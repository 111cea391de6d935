/** How many calls of the engine each request takes: a proxy in front of the engine counts them. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import * as z from 'zod'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../src/protocol/run-ref.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { SLOW_WORKER } from '../conformance/api/api-fixture.ts'
import { call, UNANSWERED_MS } from '../conformance/engine/engine-fixture.ts'
import { POLL } from '../support/call-log.ts'
import { type InProcessService, test } from '../support/fixtures.ts'
import { inProcessWorkflows } from '../support/in-process-workflows.ts'

// At once, and more would take a slow engine longer than a request may take.
const MANY = 10

let counted: (act: () => Promise<unknown>) => Promise<Record<string, number>>
let serveCounted: (env?: Record<string, string>) => InProcessService
let served: InProcessService

test.beforeAll(async ({ faultProxy, serve, startWorker }) => {
  counted = (act) => faultProxy.calls.during(act)
  const workflow = { description: 'For counting' }
  const names = [
    'echo',
    'chain',
    'completesOutside',
    'messages',
    'failTask',
    'manySteps',
    'neverEnds',
    'nothing',
    'reportsProgress',
    'waitForSignal',
  ]
  const updates = { validated: { input: z.number() } }
  const catalog = defineCatalog({ ...Object.fromEntries(names.map((name) => [name, workflow])), messages: { updates } })
  await startWorker({ catalog })
  serveCounted = (env) => serve({ ENGINE_ADDRESS: faultProxy.address, SERVICE_CATALOG_TTL: '10m', ...env })
  served = serveCounted()
  await until('it runs', async () => (await served.run('echo', 'warm')).status === 200)
})

const get = (path: string) => served.get(path)
const post = (path: string, body?: unknown) => served.post(path, body)
const start = async (workflowName: string, input: unknown = null): Promise<string> =>
  (await served.start(workflowName, input)).body.workflowId
const ended = async (workflowName: string, input: unknown = null): Promise<string> =>
  (await served.run(workflowName, input)).body.workflowId

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
  const startPlain = () => served.start('nothing', null, { catalog: plain.taskQueue })
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

test('status 1 with a memo and search attributes, while the catalog is cached', async () => {
  const options = { memo: { order: 17 }, searchAttributes: { OptionInt: 1 } }
  const { workflowId } = (await served.run('echo', 1, options)).body
  await served.run('echo', 2)

  expect(await counted(() => get(`${workflowId}/status`))).toEqual({ DescribeWorkflowExecution: 1 })
})

test('status 1 with the progress of an activity, while the catalog is cached', async () => {
  const id = await start('reportsProgress', {})
  await until('the heartbeat has arrived', async () => (await get(`${id}/status`)).body.progress)

  expect(await counted(() => get(`${id}/status`))).toEqual({ DescribeWorkflowExecution: 1 })
  await post(`${id}/terminate`)
})

test('status 1, also for an unknown id; result 1 when the history fits a page', async () => {
  const id = await ended('echo', 1)
  const reading = async () => {
    await get(`${id}/status`)
    await get('unknown/status')
    await get(`${id}/result`)
  }

  expect(await counted(reading)).toEqual({ DescribeWorkflowExecution: 2, GetWorkflowExecutionHistory: 1 })
})

test('the OpenAPI document: 0 while the catalog is cached', async () => {
  const { status } = await served.call('GET', '/openapi.json')

  expect([status, await counted(() => served.call('GET', '/openapi.json'))]).toEqual([200, {}])
})

test('result, read again: 1, and 0 with a run id', async () => {
  const id = await ended('echo', 1)
  const { body: first } = await get(`${id}/result`)

  const latest = await counted(() => get(`${id}/result`))
  const pinned = await counted(() => get(`${id}/runs/${first.runId}/result`))

  expect([latest, pinned]).toEqual([{ DescribeWorkflowExecution: 1 }, {}])
})

test('result: 3 when the history is longer; of an open run 1, and 2 when the history is longer', async () => {
  const long = await ended('manySteps', { n: 25 })
  const open = await start('neverEnds')
  const longOpen = await start('messages')
  for (let left = 40; left > 0; left--) await post(`${longOpen}/update/set`, { payload: left })

  expect(await counted(() => get(`${long}/result`))).toEqual({
    GetWorkflowExecutionHistory: 1,
    DescribeWorkflowExecution: 1,
    GetWorkflowExecutionHistoryReverse: 1,
  })
  expect(await counted(() => get(`${open}/result`))).toEqual({ GetWorkflowExecutionHistory: 1 })
  expect(await counted(() => get(`${longOpen}/result`))).toEqual({
    GetWorkflowExecutionHistory: 1,
    DescribeWorkflowExecution: 1,
  })
})

test('result with wait: of a closed run no more than without; of an open one the read, a poll, and no read at the end', async ({
  faultProxy,
}) => {
  const [closed, open, never] = await Promise.all([ended('echo', 1), start('waitForSignal'), start('neverEnds')])
  const result = (id: string, wait: string) => get(`${id}/result?wait=${wait}`)
  const waiting = async () => {
    const waited = result(open, '60s')
    await until('its poll is open', () => faultProxy.calls.open(POLL, open) === 1)
    await post(`${open}/signal/finish`)
    expect((await waited).status).toBe(200)
  }
  const read = { GetWorkflowExecutionHistory: 1 }

  expect(await counted(() => result(closed, '60s'))).toEqual(read)
  expect(await counted(waiting)).toEqual({ ...read, SignalWorkflowExecution: 1, PollWorkflowExecutionHistory: 1 })
  expect(await counted(() => result(never, '3s'))).toEqual({
    ...read,
    PollWorkflowExecutionHistory: 1,
    DescribeWorkflowExecution: 1,
  })
  await post(`${never}/terminate`)
})

test('run with Prefer: respond-async: the start alone', async () => {
  const body = { workflowName: 'nothing', input: null }

  expect(await counted(() => served.post('run', body, { Prefer: 'respond-async' }))).toEqual({
    StartWorkflowExecution: 1,
  })
})

test('run, reconnecting: one read instead of a start; nothing for a client that has the result', async () => {
  const { body: ran } = await served.run('echo', 1)
  const { body } = await served.run('echo', 2)
  const reconnect = (run: typeof ran, suffix = '') =>
    served.post(
      'run',
      { workflowName: 'echo', input: 1 },
      { Accept: 'text/event-stream', 'Last-Event-ID': `${run.workflowId}/${run.runId}${suffix}` },
    )

  expect(await counted(() => reconnect(ran))).toEqual({ GetWorkflowExecutionHistory: 1 })
  expect(await counted(() => reconnect(body, '/end'))).toEqual({})
})

test('input: 2, and 1 for a pinned run', async () => {
  const id = await start('neverEnds')
  const { runId } = (await get(`${id}/status`)).body
  const read = { GetWorkflowExecutionHistory: 1 }

  expect(await counted(() => get(`${id}/input`))).toEqual({ DescribeWorkflowExecution: 1, ...read })
  expect(await counted(() => get(`${id}/runs/${runId}/input`))).toEqual(read)
  await post(`${id}/terminate`)
})

test('explain: 3, whatever the run waits for; 1 for a closed run', async () => {
  const [waiting, failing, done] = await Promise.all([start('messages'), start('failTask'), ended('echo', 1)])
  const explain = async (id: string) => (await get(`${id}/explain`)).body.verdict
  await until('one waits', async () => (await explain(waiting)) === 'waiting_handler')
  await until('one fails', async () => (await explain(failing)) === 'workflow_task_failing')
  const three = { DescribeWorkflowExecution: 1, DescribeTaskQueue: 1, GetWorkflowExecutionHistoryReverse: 1 }

  expect(await counted(() => explain(waiting))).toEqual(three)
  expect(await counted(() => explain(failing))).toEqual(three)
  expect(await counted(() => explain(done))).toEqual({ DescribeWorkflowExecution: 1 })
  await Promise.all([waiting, failing].map((id) => post(`${id}/terminate`)))
})

test('the chain of a run: 1 if it is open, 2 with its reason while the polls of its task queue are known; 2 if it has ended', async ({
  faultProxy,
  catalog,
  cleanup,
}) => {
  const { workflows, close } = inProcessWorkflows({ address: faultProxy.address, catalog })
  cleanup.defer(close)
  const [open, one, long, canceled] = await Promise.all([
    served.start('messages', null),
    served.run('echo', 1),
    served.run('manySteps', { n: 25 }),
    served.start('neverEnds', null),
  ])
  const links = await served.start('chain', { links: 3 })
  await get(`${links.body.workflowId}/result?wait=20s`)
  await served.call('PATCH', `/workflow/${canceled.body.workflowId}/stop`)
  await get(`${canceled.body.workflowId}/result?wait=20s`)
  const read = ({ workflowId, runId }: RunRef) => workflows.readChain({ workflowId, runId }, call())
  const explain = async () => {
    const chain = await read(open.body)
    return chain.kind === 'open' ? (await chain.explain(call()))?.kind : null
  }
  await until('it waits', async () => (await explain()) === 'waiting_handler')

  const reading = await counted(() => read(open.body))
  const explaining = await counted(explain)
  const ended = []
  for (const { body } of [one, long, links, canceled]) ended.push(await counted(() => read(body)))
  await post(`${open.body.workflowId}/terminate`)

  expect(reading).toEqual({ DescribeWorkflowExecution: 1 })
  expect(explaining).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 })
  expect(ended).toEqual(Array(4).fill({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 }))
})

test('history: 2 for each page; waiting for the next event takes a read and two polls, then one poll each time', async () => {
  const id = await start('messages')
  await post(`${id}/query/state`)
  const path = `${id}/history`
  const page = { DescribeWorkflowExecution: 1, GetWorkflowExecutionHistory: 1 }
  let token = ''
  const read = (parameters: string) => async () => {
    token = (await get(`${path}?${parameters}`)).body.nextPageToken
  }

  expect(await counted(read('pageSize=2'))).toEqual(page)
  expect(await counted(read(`pageToken=${token}`))).toEqual(page)
  expect(await counted(read(`wait=3000&pageToken=${token}`))).toEqual({ ...page, PollWorkflowExecutionHistory: 2 })
  expect(await counted(read(`wait=1500&pageToken=${token}`))).toEqual({
    DescribeWorkflowExecution: 1,
    PollWorkflowExecutionHistory: 1,
  })
  await post(`${id}/terminate`)
})

test('history stream: 2 for a closed run; 1 if nothing is left', async () => {
  const id = await ended('echo', 1)
  const { body } = await get(`${id}/history`)
  const stream = (lastEventId: number) => async () => {
    const headers = { 'last-event-id': `${lastEventId}` }
    const request = new Request(`http://portico/workflow/${id}/history/stream`, { headers })
    await (await served.fetch(request)).text()
  }

  expect(await counted(stream(0))).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistory: 1 })
  expect(await counted(stream(body.events.length))).toEqual({ DescribeWorkflowExecution: 1 })
})

test('a list and a count 1 each; one more for the types of search attributes, which are cached', async () => {
  const listing = async () => {
    await get('runs?status=running')
    await get('runs/count?groupBy=status')
  }
  const byAttribute = () => get('runs?searchAttributes[WorkflowId]=x')
  await byAttribute()

  expect(await counted(listing)).toEqual({ ListWorkflowExecutions: 1, CountWorkflowExecutions: 1 })
  expect(await counted(byAttribute)).toEqual({ ListWorkflowExecutions: 1 })
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
    path = (await served.post(`${id}/update/void`, undefined, prefer)).headers.get('Location') ?? ''
  }
  const reading = () => Promise.all([served.call('GET', path), served.call('GET', `${path}?wait=10s`)])

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

test('complete, fail and heartbeat 2, for the description; with a key, or for an activity that is over, 1 more', async () => {
  const waiting = async () => {
    const { body } = await served.start('completesOutside', { retryInterval: '1h', staysOpen: true })
    const activity = `${body.workflowId}/activities/approval`
    await until('the activity waits', async () => (await post(`${activity}/heartbeat`)).status === 200)
    return activity
  }
  const [activity, keyed] = [await waiting(), await waiting()]
  const sendKeyed = () => served.post(`${keyed}/complete`, {}, { 'Idempotency-Key': 'once' })
  const lookup = { DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 }

  expect(await counted(() => post(`${activity}/heartbeat`))).toEqual({
    DescribeWorkflowExecution: 1,
    RecordActivityTaskHeartbeatById: 1,
  })
  expect(await counted(() => post(`${activity}/fail`, { message: 'later' }))).toEqual({
    DescribeWorkflowExecution: 1,
    RespondActivityTaskFailedById: 1,
  })
  expect(await counted(() => post(`${activity}/complete`))).toEqual({
    DescribeWorkflowExecution: 1,
    RespondActivityTaskCompletedById: 1,
  })
  expect(await counted(() => post(`${activity}/complete`))).toEqual(lookup)
  expect(await counted(sendKeyed)).toEqual({ ...lookup, RespondActivityTaskCompletedById: 1 })
  expect(await counted(sendKeyed)).toEqual(lookup)
  for (const path of [activity, keyed]) await post(`${path.split('/')[0]}/terminate`)
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

test('a run whose workflow task fails: one additional read for the reason', async () => {
  const failing = await start('failTask')
  const status = () => get(`${failing}/status`)
  await until('it has failed', async () => (await status()).body.problem !== null)
  const waiting = async (workflowName: string, timeout: number, problem?: string) => {
    const { body } = await served.run(workflowName, null, { timeout, taskTimeout: SLOW_WORKER })
    expect([body.status, body.problem?.kind]).toEqual([408, problem])
  }
  const lastLook = { StartWorkflowExecution: 1, PollWorkflowExecutionHistory: 1, DescribeWorkflowExecution: 1 }

  expect(await counted(status)).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 })
  expect(await counted(() => waiting('neverEnds', 3000))).toEqual(lastLook)
  expect(await counted(() => waiting('failTask', 9000, 'workflow_task_failing'))).toEqual({
    ...lastLook,
    GetWorkflowExecutionHistoryReverse: 1,
  })
  await post(`${failing}/terminate`)
})

test('a query or an update that no worker answers: one look at its run, and one read where its workflow task fails', async () => {
  const hasty = serveCounted({ SERVICE_MESSAGE_TIMEOUT: `${UNANSWERED_MS}` })
  const unanswered = async (path: string, body: unknown = {}) => expect((await hasty.post(path, body)).status).toBe(504)
  const [failing, slow] = await Promise.all([start('failTask'), start('messages')])
  await post(`${slow}/query/state`)
  await until('it has failed', async () => (await get(`${failing}/status`)).body.problem !== null)
  const updates = () => unanswered(`${slow}/update/wait`, { args: [20000] })
  // A message is sent unchecked, and the reading continues, if run and catalog are not read in half a second.
  const known = { UpdateWorkflowExecution: 1, DescribeWorkflowExecution: 1 }
  await until('run and catalog are known', async () => isDeepStrictEqual(await counted(updates), known))

  const healthy = await counted(updates)
  const query = await counted(() => unanswered(`${failing}/query/state`))
  await Promise.all([hasty.close(), ...[failing, slow].map((id) => post(`${id}/terminate`))])

  expect(healthy).toEqual(known)
  // One of the descriptions is that of the first message to a run that was started elsewhere.
  expect(query).toEqual({ QueryWorkflow: 1, DescribeWorkflowExecution: 2, GetWorkflowExecutionHistoryReverse: 1 })
})

test('stop and terminate: 2, and 1 on a closed run', async () => {
  const id = await start('neverEnds')
  const other = await start('neverEnds')
  const ending = async () => {
    await served.call('PATCH', `/workflow/${id}/stop`)
    await post(`${other}/terminate`)
  }
  const endingAgain = async () => {
    await served.call('PATCH', `/workflow/${other}/stop`)
    await post(`${other}/terminate`)
  }

  expect(await counted(ending)).toEqual({
    DescribeWorkflowExecution: 2,
    RequestCancelWorkflowExecution: 1,
    TerminateWorkflowExecution: 1,
  })
  expect(await counted(endingAgain)).toEqual({ DescribeWorkflowExecution: 2 })
})

test('trace-log: 2 for a short history', async () => {
  const id = await ended('echo', 1)

  expect(await counted(() => get(`${id}/trace-log`))).toEqual({
    DescribeWorkflowExecution: 1,
    GetWorkflowExecutionHistory: 1,
  })
})

test('catalog: 2 cold, 0 warm', async () => {
  const cold = serveCounted()
  const readTwice = async () => {
    await cold.get('catalog')
    await cold.get('catalog')
  }

  expect(await counted(readTwice)).toEqual({ DescribeWorkflowExecution: 1, GetWorkflowExecutionHistory: 1 })
  await cold.close()
})
