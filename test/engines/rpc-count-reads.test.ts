/** How many calls of the engine it takes to read runs, lists and catalogs. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../src/shared/wire/run-ref.ts'
import { SLOW_WORKER } from '../conformance/api/api-fixture.ts'
import { call } from '../conformance/engine/engine-fixture.ts'
import { POLL } from '../support/call-log.ts'
import { test } from '../support/fixtures.ts'
import { inProcessWorkflows } from '../support/in-process-workflows.ts'
import { countEngineCalls } from './rpc-count-fixture.ts'

const { counted, ended, get, post, serveCounted, served, start } = countEngineCalls()

test('status 1 with a memo and search attributes, while the catalog is cached', async () => {
  const options = { memo: { order: 17 }, searchAttributes: { OptionInt: 1 } }
  const { workflowId } = (await served().run('echo', 1, options)).body
  await served().run('echo', 2)

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

test('the log line of a read names the run and its workflow; that of a 404 its error', async () => {
  const { body: run } = await served().run('echo', 1)
  const { workflowId, runId } = run
  const paths = ['status', 'result', 'result?wait=1s', 'input', 'explain', 'history', 'trace-log', 'stream']
  const reading = async () => {
    for (const path of paths) await get(`${workflowId}/${path}`)
    await post(`${workflowId}/query/unknown`)
    await get('unknown-id/status')
  }
  const lines: Record<string, unknown>[] = []
  served().onLine((line) => lines.push(JSON.parse(line)))

  await reading()

  const facts = lines
    .filter(({ message }) => message === 'request')
    .map(({ workflowId, runId, workflowName, reason }) => [workflowId, runId, workflowName, reason])
  const named = [workflowId, runId, 'echo']
  expect(facts).toEqual([
    ...paths.map((path) => [...named, path === 'stream' ? 'StreamNotFoundError' : undefined]),
    [...named, 'HandlerNotFoundError'],
    ['unknown-id', undefined, undefined, 'WorkflowNotFoundError'],
  ])
})

test('the OpenAPI document: 0 while the catalog is cached', async () => {
  const { status } = await served().call('GET', '/openapi.json')

  expect([status, await counted(() => served().call('GET', '/openapi.json'))]).toEqual([200, {}])
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
    served().start('messages', null),
    served().run('echo', 1),
    served().run('manySteps', { n: 25 }),
    served().start('neverEnds', null),
  ])
  const links = await served().start('chain', { links: 3 })
  await get(`${links.body.workflowId}/result?wait=60s`)
  await served().call('PATCH', `/workflow/${canceled.body.workflowId}/stop`)
  await get(`${canceled.body.workflowId}/result?wait=60s`)
  const read = ({ workflowId, runId }: RunRef) => workflows.readChain({ ref: { workflowId, runId } }, call())
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

test.for(['history', 'trace-log'])('%s stream: 2 for a closed run; 1 if nothing is left', async (what) => {
  const id = await ended('echo', 1)
  const { body } = await get(`${id}/history`)
  const stream = (lastEventId: number) => async () => {
    const headers = { 'last-event-id': `${body.workflow.runId}@${lastEventId}` }
    const request = new Request(`http://portico/workflow/${id}/${what}/stream`, { headers })
    await (await served().fetch(request)).text()
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

test('a filter value that the database cannot search for: 1, and its refusal is not repeated', async () => {
  const statuses: number[] = []
  await get('runs?searchAttributes[WorkflowId]=x')
  const refused = (path: string) => counted(async () => void statuses.push((await get(path)).status))
  const list = ["runs?query=OptionKeywordList%3D'a%22b'", 'runs?searchAttributes[OptionKeywordList]=a%22b'] as const

  expect(await refused(list[0])).toEqual({ ListWorkflowExecutions: 1 })
  expect(await refused(list[1])).toEqual({ ListWorkflowExecutions: 1 })
  expect(await refused('runs/count?searchAttributes[OptionKeywordList]=a%22b')).toEqual({ CountWorkflowExecutions: 1 })
  expect(statuses).toEqual([400, 501, 501])
})

test('a run whose workflow task fails: one additional read for the reason', async () => {
  const failing = await start('failTask')
  const status = () => get(`${failing}/status`)
  await until('it has failed', async () => (await status()).body.problem)
  const waiting = async (workflowName: string, timeout: number, problem?: string) => {
    const { body } = await served().run(workflowName, null, { timeout, taskTimeout: SLOW_WORKER })
    expect([body.status, body.problem?.kind]).toEqual([424, problem])
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

test('a task queue: 2, for the workers of workflows and of activities', async () => {
  const read = () => served().call('GET', '/task-queues/some-queue')

  expect(await counted(read)).toEqual({ DescribeTaskQueue: 2 })
})
