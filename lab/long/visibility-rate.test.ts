/** An engine whose visibility store is rate-limited: the API does not query it, and the archiver of traces waits. */

import { Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from '../../test/support/api.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { promisedError } from '../../test/support/promises.ts'
import { bundleTraced, startTracedWorker } from '../../test/support/traced-worker.ts'
import { whenInTime } from './when-in-time.ts'

const CATALOG = 'unlisted'

const test = testWithOwnEngine({
  dynamicConfig: { 'frontend.namespaceRPS.visibility': 1, 'frontend.namespaceBurstRatio.visibility': 1 },
})
test.override('catalog', () => CATALOG)

let connection: Connection
let api: Api
let env: Record<string, string>
let hurry: NodeJS.Timeout | undefined
const workers: RunningProcess[] = []

test.beforeAll(async ({ engine, redis, s3, folder, serve, cleanup }) => {
  // The client's own retries would slow the hurry down.
  connection = await Connection.connect({ address: engine.address, interceptors: [] })
  cleanup.defer(() => connection.close())
  api = serve(tracedEnv(redis, s3))
  env = {
    ...tracedEnv(redis, s3),
    SERVICE_CATALOG_ID: CATALOG,
    ENGINE_ADDRESS: engine.address,
    WORKFLOW_BUNDLE: await bundleTraced(folder),
  }
  cleanup.defer(async () => void (await Promise.all(workers.map((worker) => worker.kill()))))
  cleanup.defer(() => clearInterval(hurry))
})

async function startWorkerProcess(): Promise<RunningProcess> {
  const worker = await startTracedWorker(env)
  workers.push(worker)
  return worker
}

/** Others ask for fifty lists a second, and get one; resolves when the first was rejected. */
async function takeAllLists(): Promise<void> {
  let rejected = 0
  const list = () =>
    connection.workflowService.listWorkflowExecutions({ namespace: 'default', pageSize: 1 }).catch(() => rejected++)
  hurry = setInterval(list, 20)
  await until('a list is rejected', () => rejected > 0)
}

/** A run in its middle, with spans that wait in the store. */
async function startStory(): Promise<string> {
  // A busy engine may once take longer than a start may.
  const { status, body } = await until('the engine answers a start', async () => {
    const answer = await api.start('story', { end: 'open' })
    return answer.status !== 503 && answer
  })
  expect(status, JSON.stringify(body)).toBe(200)
  await until('its spans are in the store', async () => {
    const { body: trace } = await api.get(`${body.workflowId}/trace-log`)
    const text = JSON.stringify(trace)
    if (trace.source === 'kvstore' && text.includes('"llm"')) return true
    throw new Error(`${text.slice(0, 1000)}\n${workers.at(-1)?.output().slice(-1000)}`)
  })
  return body.workflowId
}

test('visibility rate: runs and their traces do not need the index, and runs that ended meanwhile are archived afterwards (failure 9)', async () => {
  const first = await startWorkerProcess()
  const ended = await startStory()
  await first.kill()
  await whenInTime('it is terminated', () => api.post(`${ended}/terminate`))

  await takeAllLists()
  const [rejectedStatus] = promisedError(9, '429')
  await until('a list is rejected', async () => (await api.get('runs')).status === rejectedStatus)
  // Without a worker it is not archived.
  const { body: trace } = await api.get(`${ended}/trace-log`)
  const second = await startWorkerProcess()
  const ran = await api.run('story', { end: 'complete' })
  const catalog = await api.get('catalog')
  const rejected = /The trace archiver was interrupted.*namespace rate limit exceeded/s
  await until('the rejection is logged', () => rejected.test(second.output()), { timeoutMs: 300_000 })
  clearInterval(hurry)

  expect([ran.status, ran.body.status, catalog.status]).toEqual([200, 'completed', 200])
  expect(second.output()).toContain('namespace rate limit exceeded')
  expect(trace).toMatchObject({ source: 'kvstore', data: { attributes: { status: 'terminated' } } })
  const archived = async (id: string) => (await api.get(`${id}/trace-log`)).body.source === 'remote'
  await until('both are archived', async () => (await archived(ended)) && archived(ran.body.workflowId), {
    timeoutMs: 300_000,
    everyMs: 500,
  })
})
