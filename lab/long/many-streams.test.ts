/** 500 long calls, through a peer that allows 100 HTTP/2 streams for each connection, as many do. */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { makeApi } from '../../test/support/api.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../../test/support/entries.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test as baseTest } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'

const MAX_STREAMS = 100
const LONG_CALLS = 500
const STARTS_AT_ONCE = 20
// A hundred at once would take a slow machine longer than a request may take.
const STATUSES_AT_ONCE = 10
// The engine ends each poll after 20 s, so that a few are always missing.
const OPEN_SHARE = 0.9

/** The catalog stays published when its worker has stopped, so that runs can be started which no worker executes. */
const test = baseTest.extend('publishedCatalog', { scope: 'file' }, async ({ startWorker }) => {
  const worker = await startWorker({ catalog: testCatalog })
  await worker.stop()
})

describe.for(GRPC_RUNTIMES)('many streams: %s', (runtime) => {
  test('500 runs that wait get as many connections as they need, and do not hold up other calls', async ({
    engine,
    catalog,
    publishedCatalog: _,
    cleanup,
  }) => {
    const proxy = await startFaultProxy(engine.address, null, { maxConcurrentStreams: MAX_STREAMS })
    cleanup.defer(() => proxy.stop())
    const service = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: catalog,
      // A read that waits behind the starts would fail them.
      SERVICE_CATALOG_TTL: '1h',
      SERVICE_MAX_INFLIGHT: '1000',
      ENGINE_ADDRESS: proxy.address,
    })
    cleanup.defer(() => service.stop())
    const api = makeApi({ url: service.url })
    await startFirstRun(api, 'neverEnds')
    const leaving = new AbortController()
    const ids = Array.from({ length: LONG_CALLS }, () => crypto.randomUUID())
    const waiting: Promise<string>[] = []

    async function run(workflowId: string): Promise<string> {
      const body = { workflowName: 'neverEnds', input: null, workflowId, timeout: '10m' }
      const answer = api.post('run', body, {}, leaving.signal)
      return answer.then(({ text }) => text).catch((error: Error) => error.name)
    }

    for (let first = 0; first < LONG_CALLS; first += STARTS_AT_ONCE) {
      waiting.push(...ids.slice(first, first + STARTS_AT_ONCE).map(run))
      const isOpen = () => proxy.open() >= waiting.length * OPEN_SHARE
      await until('their polls are open', isOpen, { timeoutMs: 300_000 })
      console.log(`${runtime}: ${waiting.length} runs wait over ${proxy.connections()} connections`)
    }
    const needed = (LONG_CALLS * OPEN_SHARE) / MAX_STREAMS
    await until('there are enough connections', () => proxy.connections() >= needed, { timeoutMs: 300_000 })
    const statuses: number[] = []
    await mapConcurrent(ids.slice(0, MAX_STREAMS), STATUSES_AT_ONCE, async (id) => {
      const { status } = await api.get(`${id}/status`)
      statuses.push(status)
    })
    const connections = proxy.connections()
    leaving.abort()

    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['AbortError']))
    expect(connections).toBeLessThanOrEqual(LONG_CALLS / MAX_STREAMS + 2)
    expect(statuses).toEqual(ids.slice(0, MAX_STREAMS).map(() => 200))
    // One runtime is enough: it takes half a minute.
    if (runtime !== 'Node') return
    const isClosed = () => proxy.connections() <= 1
    await until('the connections without calls are closed', isClosed, { timeoutMs: 300_000 })
    expect((await api.get(`${ids[0]}/status`)).status).toBe(200)
  })
})
