/** More calls that wait at once than one connection carries: a peer that allows 100 HTTP/2 streams, as many do. */
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { type Answer, type Api, makeApi } from '../support/api.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { type Served, serve } from '../support/serve.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

const CATALOG = `many-${crypto.randomUUID()}`
const MAX_STREAMS = 100
const COUNT = 110
const TIMEOUT = '20s'

let proxy: FaultProxy
let connection: Connection
let worker: TestWorker
let served: Served
let api: Api
/** Runs that no worker takes. */
let idle: string[]

beforeAll(async () => {
  const { address } = inject('engine')
  ;[proxy, connection, worker] = await Promise.all([
    startFaultProxy(address, null, { maxConcurrentStreams: MAX_STREAMS }),
    Connection.connect({ address }),
    startWorker({ address, taskQueue: CATALOG }),
  ])
  served = serve({ ENGINE_ADDRESS: proxy.address, SERVICE_CATALOG_ID: CATALOG, SERVICE_MESSAGE_TIMEOUT: TIMEOUT })
  api = makeApi(served)
  const { workflow } = new Client({ connection })
  idle = Array.from({ length: COUNT }, (_, number) => `${CATALOG}-idle-${number}`)
  await Promise.all(
    idle.map((workflowId) => workflow.start('messages', { workflowId, taskQueue: `${CATALOG}-nobody` })),
  )
})

afterAll(async () => {
  await served?.close()
  await worker?.stop()
  await connection?.close()
  await proxy?.stop()
})

test('many calls: 110 updates without a worker and 110 runs are each answered as one alone would be, and hold up nothing else', {
  timeout: 90_000,
}, async () => {
  let answered = 0
  const counted = async (answer: Promise<Answer>): Promise<Answer> => answer.finally(() => answered++)
  const { workflowId } = (await api.call('POST', '/workflow/start', { workflowName: 'messages', input: null })).body
  const updates = idle.map((id) => counted(api.call('POST', `/workflow/${id}/update/set`, { payload: 1 })))
  const runs = idle.map(() =>
    counted(api.call('POST', '/workflow/run', { workflowName: 'neverEnds', input: null, timeout: TIMEOUT })),
  )
  await until('each is with the engine', () => proxy.open() >= 2 * COUNT, { timeoutMs: 20_000 })

  const meanwhile = await Promise.all([
    ...idle.map((id) => api.call('GET', `/workflow/${id}/status`)),
    api.call('POST', `/workflow/${workflowId}/query/state`),
    api.call('POST', `/workflow/${workflowId}/update/set`, { payload: 1 }),
    api.call('POST', '/workflow/run', { workflowName: 'echo', input: 1 }),
  ])

  expect(answered).toBe(0)
  expect(new Set(meanwhile.map(({ status }) => status))).toEqual(new Set([200]))
  expect(facts(await Promise.all(updates))).toEqual(['504 DeadlineExceededError'])
  expect(facts(await Promise.all(runs))).toEqual(['408 WorkflowExecutionTimedOutError'])
})

test('many calls: a call that a peer resets to be spared is repeated, and its refusals are no bug of the engine', async () => {
  const [first = '', second = ''] = idle
  proxy.on({ method: 'DescribeWorkflowExecution', containing: first, fault: 'calm', times: 1 })
  proxy.on({ method: 'DescribeWorkflowExecution', containing: second, fault: 'calm' })

  const answers = await Promise.all([first, second].map((id) => api.call('GET', `/workflow/${id}/status`)))

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [200, undefined],
    [503, 'EngineUnavailableError'],
  ])
})

function facts(answers: Answer[]): string[] {
  return [...new Set(answers.map(({ status, body }) => `${status} ${body.error}`))]
}
