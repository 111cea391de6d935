import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer } from '../support/api.ts'
import type { InProcessService } from '../support/fixtures.ts'
import { test } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

/** The number of engine calls for a request with an `Idempotency-Key`, first and repeated. */
let counted: (act: () => Promise<unknown>) => Promise<Record<string, number>>
let served: InProcessService

test.beforeAll(async ({ faultProxy, serve, startWorker }) => {
  counted = (act) => faultProxy.calls.during(act)
  await startWorker({ catalog: testCatalog })
  served = serve({ ENGINE_ADDRESS: faultProxy.address, SERVICE_CATALOG_TTL: '10m' })
  await until('it runs', async () => (await served.run('echo', 'warm')).status === 200)
})

const post = (path: string, key: string, body: object = {}) => served.post(path, body, { 'Idempotency-Key': key })

test('start 1, and repeated 2; run 2, and repeated 3, or 2 if the result is in memory', async () => {
  const [startKey, runKey] = [crypto.randomUUID(), crypto.randomUUID()]
  const started = { workflowName: 'neverEnds', input: null }
  const ran = { workflowName: 'echo', input: 1 }
  const starting = () => post('start', startKey, started)
  const running = () => post('run', runKey, ran)
  const again = { StartWorkflowExecution: 1, DescribeWorkflowExecution: 1 }

  expect(await counted(starting)).toEqual({ StartWorkflowExecution: 1 })
  expect(await counted(starting)).toEqual(again)
  expect(await counted(running)).toEqual({ StartWorkflowExecution: 1, PollWorkflowExecutionHistory: 1 })
  expect(await counted(running)).toEqual({ ...again, GetWorkflowExecutionHistory: 1 })
  expect(await counted(running)).toEqual(again)
  expect(await counted(() => post('start', startKey, { ...started, input: 2 }))).toEqual(again)
})

test('a chain, repeated: no more, because a run that continues as new keeps its memo; else one', async () => {
  const again = { StartWorkflowExecution: 1, DescribeWorkflowExecution: 1 }
  for (const [workflowName, describes] of [
    ['chain', 1],
    ['replacesMemo', 2],
  ] as const) {
    const key = crypto.randomUUID()
    const start = () => post('start', key, { workflowName, input: { links: 2 } })
    const { workflowId } = (await start()).body
    const status = async () => (await served.get(`${workflowId}/status`)).body.status
    await until('it has ended', async () => (await status()) === 'completed')

    expect(await counted(start)).toEqual({ ...again, DescribeWorkflowExecution: describes })
  }
})

test('start with a workflow id that another request has used: 3; 2 if its run is open', async () => {
  const body = { workflowName: 'waitForSignal', input: null, workflowId: crypto.randomUUID() }
  const start = (key: string) => () => post('start', key, body)
  await start('a')()
  const rejected = await counted(start('b'))
  await post(`${body.workflowId}/signal/finish`, 'a')
  const status = async () => (await served.get(`${body.workflowId}/status`)).body.status
  await until('it has ended', async () => (await status()) === 'completed')

  expect(rejected).toEqual({ StartWorkflowExecution: 1, DescribeWorkflowExecution: 1 })
  expect(await counted(start('b'))).toEqual({ StartWorkflowExecution: 2, DescribeWorkflowExecution: 1 })
})

test('signal-with-start 2, and repeated 1', async () => {
  const key = crypto.randomUUID()
  const sending = () => post('signal-with-start/add', key, { workflowName: 'messages', input: null, payload: 1 })

  expect(await counted(sending)).toEqual({ DescribeWorkflowExecution: 1, SignalWithStartWorkflowExecution: 1 })
  expect(await counted(sending)).toEqual({ DescribeWorkflowExecution: 1 })
})

test('an asynchronous update 1, also repeated, and it is the same update', async () => {
  const { body: run } = await served.start('messages')
  const headers = { 'Idempotency-Key': crypto.randomUUID(), Prefer: 'respond-async' }
  const answers: Answer[] = []
  const sending = async () => {
    const path = `/workflow/${run.workflowId}/update/wait`
    answers.push(await served.call('POST', path, { args: [60_000] }, headers))
  }

  const counts = [await counted(sending), await counted(sending)]

  expect(counts).toEqual([{ UpdateWorkflowExecution: 1 }, { UpdateWorkflowExecution: 1 }])
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  expect(answers[1]?.body).toEqual(answers[0]?.body)
  expect(answers[0]?.body.updateId).toMatch(/^key-[\da-f]{32}$/)
  await post(`${run.workflowId}/signal/finish`, 'end')
})

test('signal and update 1, also repeated; update-with-start 1, and repeated 3', async () => {
  const key = crypto.randomUUID()
  const body = { workflowName: 'messages', input: null, payload: 1 }
  const both = () => post('update-with-start/set', key, body)
  const first = await counted(both)
  const again = await counted(both)
  const { workflowId } = (await both()).body
  const sending = async () => {
    for (const path of ['signal/add', 'update/set', 'signal/add', 'update/set'])
      await post(`${workflowId}/${path}`, 'k', { payload: 1 })
  }

  expect(first).toEqual({ ExecuteMultiOperation: 1 })
  expect(again).toEqual({ ExecuteMultiOperation: 1, DescribeWorkflowExecution: 1, UpdateWorkflowExecution: 1 })
  expect(await counted(sending)).toEqual({ SignalWorkflowExecution: 2, UpdateWorkflowExecution: 2 })
})
