/** The engine has done it, and its answer never arrives: the client gets the one there is, and nothing is done twice. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Api, makeApi } from '../support/api.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { type Served, serve } from '../support/serve.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { until } from '../support/until.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

let proxy: FaultProxy
let worker: TestWorker
let served: Served
let api: Api

beforeAll(async () => {
  const { address } = inject('engine')
  proxy = await startFaultProxy(address)
  served = serve({ ENGINE_ADDRESS: proxy.address })
  worker = await startWorker({ address, taskQueue: served.catalog, catalog: testCatalog })
  api = makeApi({ ...served, engine: 'faulty' })
  await until('the catalog is published', async () => (await api.call('GET', '/workflow/catalog')).status === 200)
})

afterAll(async () => {
  await served?.close()
  await worker?.stop()
  await proxy?.stop()
})

test('lost answers: a start is sent again as the same request, and the client is told of its one run', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`
  const lost = async () => {}
  const takeBack = proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { lost }, times: 1 })

  const started = await api.call('POST', '/workflow/start', { workflowName: 'neverEnds', input: null, workflowId })
  takeBack()
  const again = await api.call('POST', '/workflow/start', { workflowName: 'neverEnds', input: null, workflowId })

  expect([started.status, started.body.status]).toEqual([200, 'running'])
  // Had a second run been started, the id would be its.
  expect([again.status, again.body.runId]).toEqual([409, started.body.runId])
  await api.call('POST', `/workflow/${workflowId}/terminate`)
})

test('lost answers: a run whose chain has ended before the second try ends with the result of its own', async () => {
  const workflowId = `lost-${crypto.randomUUID()}`
  const link = async () => (await api.call('GET', `/workflow/${workflowId}/result`)).body
  const ended = () => until('the chain has ended', async () => (await link()).output?.links === 2)
  proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { lost: ended }, times: 1 })

  const { status, body } = await api.call('POST', '/workflow/run', { workflowName: 'chain', input: { links: 2 }, workflowId })

  expect([status, body.status, body.output]).toEqual([200, 'completed', { links: 2, link: 2 }])
  expect(body.runId).toBe((await link()).runId)
})
