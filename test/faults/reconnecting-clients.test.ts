/** Clients as they are, whose connections are closed by a proxy while they wait for a run. */
import { expect } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startEventSource } from '../support/event-source.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { CALLER_HEADERS } from '../support/policy.ts'
import type { Service } from '../support/service.ts'

const test = baseTest.extend('proxy', { scope: 'file' }, async ({ serviceProcess, cleanup }) => {
  await startFirstRun(serviceProcess, 'nothing')
  const proxy = await startTcpProxy(new URL(serviceProcess.url).host)
  cleanup.defer(() => proxy.close())
  return proxy
})

function closeConnections(proxy: TcpProxy): void {
  proxy.interrupt()
  proxy.restore()
}

/** The runs of this workflow, once there is one. */
async function runsOf(service: Service, catalog: string, workflowName: string): Promise<{ runId: string }[]> {
  const path = `/workflow/runs?catalog=${catalog}&workflowName=${workflowName}`
  return until('the run is listed', async () => {
    const { runs } = (await service.call('GET', path)).body
    return runs.length > 0 && runs
  })
}

test('an EventSource that starts a run gets its result after its connection was closed, and there is one run', async ({
  serviceProcess,
  proxy,
  catalog,
  cleanup,
}) => {
  const body = { workflowName: 'waitForSignal', input: null, timeout: '10m' }
  const source = await startEventSource(`http://${proxy.address}/workflow/run`, body)
  cleanup.defer(async () => void (await source.kill()))

  for (const connections of [1, 2, 3]) {
    await until('it is connected', () => source.events.length === connections)
    if (connections < 3) closeConnections(proxy)
  }
  const { workflowId, runId } = source.events[0]?.data ?? {}
  await serviceProcess.post(`${workflowId}/signal/finish`, { payload: 1 })
  await until('it does not connect again', () => source.events.at(-1)?.event === 'closed')

  const started = { event: 'started', data: { workflowId, runId } }
  expect(source.events).toMatchObject([
    started,
    started,
    started,
    { event: 'result', data: { runId, output: [1] } },
    { event: 'closed', data: 204 },
  ])
  expect(await runsOf(serviceProcess, catalog, 'waitForSignal')).toMatchObject([{ runId }])
})

test('an EventSource and a loop of fetch wait for a run that exists, whenever their connections are closed (failure 41)', async ({
  serviceProcess,
  proxy,
  cleanup,
}) => {
  const { workflowId } = (await serviceProcess.start('messages')).body
  const url = `http://${proxy.address}/workflow/${workflowId}/result`
  const source = await startEventSource(`${url}?wait=1s`)
  cleanup.defer(async () => void (await source.kill()))
  const seen: unknown[] = []
  async function fetchResult(): Promise<unknown> {
    const response = await fetch(`${url}?wait=1s`, { headers: CALLER_HEADERS }).catch(() => null)
    seen.push(response?.status)
    return response?.status === 200 ? response.json() : fetchResult()
  }
  const fetched = fetchResult()

  const isTimeout = ({ event }: { event: string }) => event === 'timeout'
  await until('both have waited in vain', () => seen.includes(424) && source.events.some(isTimeout))
  await until('fetch has lost a connection', () => seen.includes(undefined) || closeConnections(proxy))
  await serviceProcess.post(`${workflowId}/signal/finish`)
  await until('the source does not connect again', () => source.events.at(-1)?.event === 'closed')

  const { body } = await serviceProcess.get(`${workflowId}/result`)
  expect(body.status).toBe('completed')
  expect([await fetched, source.events.at(-2)]).toEqual([body, { event: 'result', data: body }])
})
