/** More calls that wait at once than one connection carries: a peer that allows 100 HTTP/2 streams, as many do. */

import proto from '@temporalio/proto'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import type { Answer } from '../../test/support/api.ts'
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { type InProcessService, test as sharedTest } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'

const MAX_STREAMS = 100
const COUNT = 110
const AT_ONCE = 20
const READS_AT_ONCE = 5
// They wait until the service drains.
const TIMEOUT = '10m'

// With a catalog that is read once, a start takes one call of the engine.
const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

let proxy: FaultProxy
let api: InProcessService
/** Runs that no worker takes. */
let idle: string[]

test.beforeAll(async ({ engine, client, catalog, serve, worker: _, cleanup }) => {
  proxy = await startFaultProxy(engine.address, null, { maxConcurrentStreams: MAX_STREAMS })
  cleanup.defer(() => proxy.stop())
  api = serve({
    ENGINE_ADDRESS: proxy.address,
    SERVICE_CATALOG_TTL: '1h',
    SERVICE_MESSAGE_TIMEOUT: TIMEOUT,
    SERVICE_MAX_INFLIGHT: '1000',
  })
  // A ping that waits behind the calls fails. One that only a busy engine delays must not.
  const { GetSystemInfoResponse } = proto.temporal.api.workflowservice.v1
  const answer = GetSystemInfoResponse.encode({ serverVersion: '1' }).finish()
  proxy.on({ method: 'GetSystemInfo', containing: '', fault: { answer } })
  idle = Array.from({ length: COUNT }, (_, number) => `${catalog}-idle-${number}`)
  await Promise.all(
    idle.map((workflowId) => client.workflow.start('messages', { workflowId, taskQueue: `${catalog}-nobody` })),
  )
})

test('many calls: 110 updates without a worker and 110 runs are each answered as one alone would be, and hold up nothing else', async () => {
  const early: Answer[] = []
  const counted = async (answer: Promise<Answer>): Promise<Answer> => {
    early.push(await answer)
    return answer
  }
  const workflowId = await startFirstRun(api, 'messages')
  const updates: Promise<Answer>[] = []
  const runs: Promise<Answer>[] = []
  // All at once would take a slow engine longer than a request may take.
  for (const id of idle) {
    updates.push(counted(api.post(`${id}/update/set`, { payload: 1 })))
    runs.push(counted(api.run('neverEnds', null, { timeout: TIMEOUT })))
    await until('most are with the engine', () => {
      expect(early.map(({ text }) => text)).toEqual([])
      return proxy.open() >= 2 * updates.length - AT_ONCE
    })
  }
  await until('each is with the engine', () => proxy.open() >= 2 * COUNT)

  const states: Answer[] = []
  await mapConcurrent(idle, READS_AT_ONCE, async (id) => void states.push(await api.get(`${id}/status`)))
  const meanwhile = await Promise.all([
    api.post(`${workflowId}/query/state`),
    api.post(`${workflowId}/update/set`, { payload: 1 }),
    api.run('echo', 1),
  ])

  expect(early.map(({ text }) => text)).toEqual([])
  api.drain()
  expect(states).toHaveLength(COUNT)
  expect(new Set([...states, ...meanwhile].map(({ status }) => status))).toEqual(new Set([200]))
  expect(facts(await Promise.all(updates))).toEqual(['424 OutcomeUnknownError'])
  expect(facts(await Promise.all(runs))).toEqual(['424 WorkflowExecutionTimedOutError'])
})

test('many calls: a call that the peer resets under load is retried and is not reported as a bug of the engine', async ({
  serve,
}) => {
  // The other one drains.
  const fresh = serve({ ENGINE_ADDRESS: proxy.address })
  const [first = '', second = ''] = idle
  proxy.on({ method: 'DescribeWorkflowExecution', containing: first, fault: 'calm', times: 1 })
  proxy.on({ method: 'DescribeWorkflowExecution', containing: second, fault: 'calm' })

  const answers = await Promise.all([first, second].map((id) => fresh.get(`${id}/status`)))

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [200, undefined],
    [503, 'EngineUnavailableError'],
  ])
})

function facts(answers: Answer[]): string[] {
  return [...new Set(answers.map(({ status, body }) => `${status} ${body.error}`))]
}
