/**
 * Over Temporal's HTTP API, on every runtime: a response is lost after the engine has carried out the request. Only the
 * service sends it again, and only to the run that may have received it; the runtime's `fetch` does not.
 */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Api, makeApi } from '../support/api.ts'
import { EVERY_RUNTIME, RUNTIMES } from '../support/entries.ts'
import type { Fault, FaultProxy } from '../support/fault-proxy.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test } from '../support/fixtures.ts'

describe.concurrent.for(RUNTIMES)('lost responses over HTTP on %s', (runtime) => {
  let proxy: FaultProxy
  let api: Api

  test.beforeAll(async ({ faultProxy, catalog, worker: _, cleanup }) => {
    proxy = faultProxy
    const service = await EVERY_RUNTIME[runtime]({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_ALLOW_ANONYMOUS: 'true',
      ENGINE_TRANSPORT: 'http',
      ENGINE_HTTP_URL: proxy.httpUrl ?? '',
    })
    cleanup.defer(() => service.stop())
    api = makeApi({ url: service.url, engine: 'disturbed' })
    await startFirstRun(api, 'nothing')
  })

  async function start(workflowName: string, input: unknown = null): Promise<{ workflowId: string; runId: string }> {
    const { body } = await api.start(workflowName, input, { workflowId: `lost-${crypto.randomUUID()}` })
    return body
  }

  /** Sends a request; whatever the service sends with this method meets the fault once. */
  async function lose(method: string, path: string, fault: Fault, body: unknown = {}) {
    const [containing = ''] = path.split('/')
    const takeBack = proxy.on({ method, containing, fault, times: 1 })
    const answer = await api.post(path, body)
    takeBack()
    return answer
  }

  const ended = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    until('the run has ended', async () => {
      const { body } = await api.get(`${workflowId}/runs/${runId}/status`)
      return body.status !== 'running'
    })
  const updatesOf = async (path: string) =>
    (await api.get(`${path}/trace-log`)).text.match(/"kind":"update"/g)?.length ?? 0

  test('update: its run continues as new before the connection ends; the next run does not get it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run
    const continueAsNew = async () => {
      await api.post(`${workflowId}/signal/next`)
      await ended(run)
    }

    const { status, body } = await lose('UpdateWorkflowExecution', `${workflowId}/update/round`, {
      lost: continueAsNew,
    })

    expect([status, body]).toEqual([200, 1])
    expect([await updatesOf(`${workflowId}/runs/${run.runId}`), await updatesOf(workflowId)]).toEqual([1, 0])
    await api.post(`${workflowId}/terminate`)
  })

  test('signal: its run continues as new before the connection ends; the next run does not get it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId, runId } = run

    const { status, body } = await lose('SignalWorkflowExecution', `${workflowId}/signal/next`, {
      lost: () => ended(run),
    })

    expect([status, body.runId]).toEqual([200, runId])
    expect((await api.post(`${workflowId}/update/round`)).body).toBe(2)
    await api.post(`${workflowId}/terminate`)
  })

  test('reset: it is sent once', async () => {
    const { workflowId } = await start('messages')
    await api.post(`${workflowId}/update/set`, { payload: 1 })
    let attempts = 0
    const lost = async () => attempts++
    proxy.on({ method: 'ResetWorkflowExecution', containing: workflowId, fault: { lost } })

    const { status, body } = await api.post(`${workflowId}/reset`, { eventId: 4 })

    expect([status, attempts]).toEqual([200, 1])
    expect((await api.get(`${workflowId}/status`)).body).toMatchObject({ runId: body.runId, status: 'running' })
    await api.post(`${workflowId}/terminate`)
  })

  test('complete: it is sent once', async () => {
    const { workflowId } = await start('completesOutside', {})
    const activity = `${workflowId}/activities/approval`
    await until('the activity waits', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
    let attempts = 0
    const lost = async () => attempts++
    proxy.on({ method: 'RespondActivityTaskCompletedById', containing: workflowId, fault: { lost } })

    const { status } = await api.post(`${activity}/complete`, { output: 1 })

    expect([status, attempts]).toEqual([200, 1])
    expect((await api.get(`${workflowId}/result?wait=60s`)).body.output).toEqual([1])
  })

  test('start: its run ends before the connection does; no other run is started', async () => {
    const workflowId = `lost-${crypto.randomUUID()}`
    const status = async () => (await api.get(`${workflowId}/status`)).body
    const completed = () => until('it has completed', async () => (await status()).status === 'completed')
    proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { lost: completed }, times: 1 })

    const started = await api.start('nothing', null, { workflowId })

    expect([started.status, started.body.runId]).toEqual([200, (await status()).runId])
  })
})
