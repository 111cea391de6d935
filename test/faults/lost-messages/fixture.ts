/** A service behind a fault proxy, and what the tests of lost messages send through it. */
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { type InProcessService, test } from '../../support/fixtures.ts'
import { testCatalog } from '../../support/test-catalog.ts'

export const nothing = async () => {}
export const unknown = ({ status, body, headers }: Answer) => [
  status,
  body.error,
  body.workflowId,
  headers.get('Retry-After'),
]

/** Starts a service over this transport and a worker, before the tests of the suite that calls this. */
export function sendOverFaultProxy(transport: 'grpc' | 'http') {
  let faultProxy: FaultProxy
  let service: InProcessService
  let serveBehindProxy: () => InProcessService

  test.beforeAll(async ({ engine: { address, httpUrl }, catalog, serve, startWorker, cleanup }) => {
    const taskQueue = `${catalog}-${transport}`
    faultProxy = await startFaultProxy(address, httpUrl)
    cleanup.defer(() => faultProxy.stop())
    const overProxy = {
      ENGINE_TRANSPORT: transport,
      ENGINE_ADDRESS: faultProxy.address,
      ENGINE_HTTP_URL: faultProxy.httpUrl ?? '',
      SERVICE_CATALOG_ID: taskQueue,
    }
    serveBehindProxy = () => serve(overProxy, 'disturbed')
    service = serveBehindProxy()
    await startWorker({ taskQueue, catalog: testCatalog })
    await until('the catalog is published', async () => (await service.get('catalog')).status === 200)
  })

  const proxy: Pick<FaultProxy, 'on'> = { on: (rule) => faultProxy.on(rule) }
  const api: Pick<InProcessService, 'call' | 'get' | 'post' | 'start' | 'run'> = {
    call: (...request) => service.call(...request),
    get: (...request) => service.get(...request),
    post: (...request) => service.post(...request),
    start: (...request) => service.start(...request),
    run: (...request) => service.run(...request),
  }

  async function start(workflowName: string, input: unknown = null, workflowId = `lost-${crypto.randomUUID()}`) {
    const { body } = await api.start(workflowName, input, { workflowId })
    return { workflowId, runId: String(body.runId) }
  }

  const signal = (workflowId: string, name: string, payload: unknown = null) =>
    api.post(`${workflowId}/signal/${name}`, { payload })

  /** Sends one message whose first attempt meets this fault. */
  async function faulted(path: string, fault: Fault, payload: unknown = null): Promise<Answer> {
    return withFault(path, fault, () => api.post(path, { payload }))
  }

  async function withFault(path: string, fault: Fault, send: () => Promise<Answer>): Promise<Answer> {
    const method = path.includes('/signal/') ? 'SignalWorkflowExecution' : 'UpdateWorkflowExecution'
    const [containing = ''] = path.split('/')
    const takeBack = proxy.on({ method, containing, fault, times: 1 })
    const answer = await send()
    takeBack()
    return answer
  }

  const statusOf = async (path: string) => (await api.get(`${path}/status`)).body
  const ended = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    until('the run has ended', async () => (await statusOf(`${workflowId}/runs/${runId}`)).status !== 'running')
  const state = async (workflowId: string) => (await api.post(`${workflowId}/query/state`)).body
  const round = async (workflowId: string) => (await api.post(`${workflowId}/update/round`)).body
  const end = (workflowId: string) => api.post(`${workflowId}/terminate`)

  async function continueAsNew(run: { workflowId: string; runId: string }): Promise<void> {
    await signal(run.workflowId, 'next')
    await ended(run)
  }

  async function reuse(run: { workflowId: string; runId: string }): Promise<void> {
    await end(run.workflowId)
    await start('messages', null, run.workflowId)
  }

  async function reuseAndClose(run: { workflowId: string; runId: string }): Promise<void> {
    await reuse(run)
    await signal(run.workflowId, 'finish')
    await until('it has ended', async () => (await statusOf(run.workflowId)).status === 'completed')
  }

  /** A run that the engine's index has, which is where the service finds the run before a later use of the id. */
  async function startListed(workflowName: string): Promise<{ workflowId: string; runId: string }> {
    const run = await start(workflowName)
    const query = encodeURIComponent(`WorkflowId = '${run.workflowId}'`)
    await until('it is listed', async () => (await api.get(`runs?query=${query}`)).body.runs.length === 1)
    return run
  }

  return {
    proxy,
    api,
    serveOverProxy: () => serveBehindProxy(),
    start,
    signal,
    faulted,
    withFault,
    statusOf,
    ended,
    state,
    round,
    end,
    continueAsNew,
    reuse,
    reuseAndClose,
    startListed,
  }
}
