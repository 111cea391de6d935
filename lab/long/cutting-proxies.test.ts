/**
 * Clients as they are get the result of a run of three minutes through proxies that do not let a request take that
 * long.
 */
import { describe, expect } from 'vitest'
import { startTcpProxy, type TcpProxyOptions } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startEventSource } from '../../test/support/event-source.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'
import { paste } from '../../test/support/paste.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { whenInTime } from './when-in-time.ts'

const TEST_TIMEOUT_MS = 600_000
// A busy machine has as long again to respond.
const WAIT = '14s'
const RUN = { workflowName: 'sleepFor', input: { ms: 180_000 } }

const PROXIES: [string, TcpProxyOptions][] = [
  ['closes connections after 29 s', { maxConnectionMs: 29_000 }],
  ['closes idle connections after 60 s', { maxIdleMs: 60_000 }],
]

describe.concurrent.for(PROXIES)('a proxy that %s', ([name, options]) => {
  const start = async (url: string) => {
    const headers = { 'Content-Type': 'application/json', Prefer: 'respond-async' }
    const response = await fetch(`${url}/workflow/run`, { method: 'POST', headers, body: JSON.stringify(RUN) })
    expect(response.status).toBe(202)
    // Without `pending`, so that an open run is an error that a loop repeats.
    return url + response.headers.get('Location')?.replace('?pending=202', '')
  }

  async function byCurl(url: string): Promise<{ runId: string; output: unknown }> {
    const output = await paste(
      `curl -sSf --retry 1000 --retry-all-errors --retry-delay 1 '${await start(url)}?wait=${WAIT}'`,
    )
    return JSON.parse(output.trim().split('\n').at(-1) ?? '')
  }

  async function byFetch(url: string): Promise<{ runId: string; output: unknown }> {
    const result = await start(url)
    while (true) {
      const response = await fetch(`${result}?wait=${WAIT}`).catch(() => null)
      if (response?.status === 200) return response.json()
      expect([undefined, 424]).toContain(response?.status)
    }
  }

  async function byEventSource(url: string, cleanup: AsyncDisposableStack, body?: object) {
    const source = await startEventSource(url, body)
    cleanup.defer(async () => void (await source.kill()))
    const isClosed = () => source.events.at(-1)?.event === 'closed'
    await until('it does not connect again', isClosed, { timeoutMs: TEST_TIMEOUT_MS })
    const ids = new Set(source.events.slice(0, -1).map(({ data }) => data.runId))
    const result = source.events.find(({ event }) => event === 'result')?.data
    expect([...ids]).toEqual([result.runId])
    return result
  }

  test(`curl --retry, fetch and EventSource get the result of one run each: ${name}`, {
    timeout: TEST_TIMEOUT_MS,
  }, async ({ serviceProcess, startService, startWorker, cleanup }) => {
    const { taskQueue } = await startWorker({ taskQueue: `cut-${crypto.randomUUID()}`, catalog: testCatalog })
    const service = await startService({ catalog: taskQueue, env: { SERVICE_CATALOG_TTL: '1h' } })
    await startFirstRun(service, 'neverEnds')
    const proxy = await startTcpProxy(new URL(service.url).host, options)
    cleanup.defer(() => proxy.close())
    const url = `http://${proxy.address}`

    const results = await Promise.all([
      byCurl(url),
      byFetch(url),
      start(url).then((result) => byEventSource(result, cleanup)),
      byEventSource(`${url}/workflow/run`, cleanup, { ...RUN, timeout: '10m' }),
    ])

    expect(results.map(({ output }) => output)).toEqual(results.map(() => 'slept'))
    const list = `runs?catalog=${taskQueue}&workflowName=${RUN.workflowName}`
    const { runs } = (await whenInTime('the runs are listed', () => serviceProcess.get(list))).body
    expect(runs.map(({ runId }: { runId: string }) => runId).toSorted()).toEqual(
      results.map(({ runId }) => runId).toSorted(),
    )
  })
})
