/** More calls that wait at once than one connection carries: a peer that allows 100 HTTP/2 streams, as many do. */

import { expect } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import type { Answer, Api } from '../support/api.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { test } from '../support/fixtures.ts'

const MAX_STREAMS = 100
const COUNT = 110
const TIMEOUT = '20s'

let proxy: FaultProxy
let api: Api
/** Runs that no worker takes. */
let idle: string[]

test.beforeAll(async ({ engine, client, catalog, serve, worker: _, cleanup }) => {
  proxy = await startFaultProxy(engine.address, null, { maxConcurrentStreams: MAX_STREAMS })
  cleanup.defer(() => proxy.stop())
  api = serve({ ENGINE_ADDRESS: proxy.address, SERVICE_MESSAGE_TIMEOUT: TIMEOUT, SERVICE_MAX_INFLIGHT: '1000' })
  idle = Array.from({ length: COUNT }, (_, number) => `${catalog}-idle-${number}`)
  await Promise.all(
    idle.map((workflowId) => client.workflow.start('messages', { workflowId, taskQueue: `${catalog}-nobody` })),
  )
})

test('many calls: 110 updates without a worker and 110 runs are each answered as one alone would be, and hold up nothing else', async () => {
  let answered = 0
  const counted = async (answer: Promise<Answer>): Promise<Answer> => answer.finally(() => answered++)
  const { workflowId } = (await api.start('messages')).body
  const updates = idle.map((id) => counted(api.call('POST', `/workflow/${id}/update/set`, { payload: 1 })))
  const runs = idle.map(() => counted(api.run('neverEnds', null, { timeout: TIMEOUT })))
  await until('each is with the engine', () => proxy.open() >= 2 * COUNT)

  const meanwhile = await Promise.all([
    ...idle.map((id) => api.call('GET', `/workflow/${id}/status`)),
    api.call('POST', `/workflow/${workflowId}/query/state`),
    api.call('POST', `/workflow/${workflowId}/update/set`, { payload: 1 }),
    api.run('echo', 1),
  ])

  expect(answered).toBe(0)
  expect(new Set(meanwhile.map(({ status }) => status))).toEqual(new Set([200]))
  expect(facts(await Promise.all(updates))).toEqual(['504 DeadlineExceededError'])
  expect(facts(await Promise.all(runs))).toEqual(['408 WorkflowExecutionTimedOutError'])
})

test('many calls: a call that the peer resets under load is retried and is not reported as a bug of the engine', async () => {
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
