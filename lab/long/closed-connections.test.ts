/**
 * The engine closes idle and old connections, as Temporal does by default after 2 and 5 minutes. Here it takes seconds.
 */
import { describe, expect } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../../test/support/entries.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'

const IDLE_ROUNDS = 3
const CONNECTIONS = 8
const WAITING = 20
const CALLS = 10

const test = testWithOwnEngine({
  dynamicConfig: {
    'frontend.keepAliveMaxConnectionIdle': '1s',
    'frontend.keepAliveMaxConnectionAge': '2s',
    // Longer than any poll, as by default: open calls may finish.
    'frontend.keepAliveMaxConnectionAgeGrace': '70s',
  },
  // With a catalog that is read once, a start takes one call of the engine.
}).extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

describe.for(GRPC_RUNTIMES)('closed connections: %s', (runtime) => {
  let proxy: TcpProxy
  let api: Api
  let workflowId: string

  test.beforeAll(async ({ engine, worker, cleanup }) => {
    proxy = await startTcpProxy(engine.address)
    cleanup.defer(() => proxy.close())
    const service = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_CATALOG_TTL: '1h',
      ENGINE_ADDRESS: proxy.address,
    })
    cleanup.defer(() => service.stop())
    api = makeApi({ url: service.url })
    workflowId = await startFirstRun(api, 'neverEnds')
  })

  const status = async () => (await api.get(`${workflowId}/status`)).status

  test('the first call after an idle time is answered (failure 5)', async () => {
    const statuses: number[] = []

    for (let round = 0; round < IDLE_ROUNDS; round++) {
      await until('the engine has closed the idle connections', () => proxy.open() === 0)
      statuses.push(...(await Promise.all(Array.from({ length: CALLS }, status))))
    }

    expect(statuses).toEqual(statuses.map(() => 200))
  })

  test('calls and waits outlive their connections, and nothing is done twice (failure 5)', async () => {
    const ids = Array.from({ length: WAITING }, () => crypto.randomUUID())
    const waiting = ids.map((id) => api.run('waitForSignal', null, { workflowId: id, timeout: '10m' }))
    const statuses = new Set<number>()
    const acceptedBefore = proxy.accepted()

    while (proxy.accepted() < acceptedBefore + CONNECTIONS) statuses.add(await status())
    const sent = await Promise.all(ids.map((id) => api.post(`${id}/signal/finish`, { payload: id })))

    expect(statuses).toEqual(new Set([200]))
    expect(sent.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect((await Promise.all(waiting)).map(({ body }) => body.output)).toEqual(ids.map((id) => [id]))
  })
})
