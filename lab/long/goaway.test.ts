/** The engine closes connections with GOAWAY: when they are idle, when they are old, and when it restarts in order. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { POLL } from '../../test/support/call-log.ts'
import { makeCertificates } from '../../test/support/certificates.ts'
import { FROM_SOURCE, type ServedEntry } from '../../test/support/entries.ts'
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { whenInTime } from './when-in-time.ts'

const CALLS = 500
const GOAWAYS = 5
const CALLS_BETWEEN = 20
const WAITING = 20
const WRITES = 50
const WRITES_AT_ONCE = 5

// With a catalog that is read once, a start takes one call of the engine.
const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

describe.for([
  { name: 'Node', runtime: 'Node', tls: false },
  { name: 'Bun', runtime: 'Bun', tls: false },
  { name: 'Deno', runtime: 'Deno', tls: false },
  { name: 'Deno over TLS', runtime: 'Deno', tls: true },
] as const)('GOAWAY: $name', ({ runtime, tls }) => {
  let proxy: FaultProxy
  let service: ServedEntry
  let api: Api
  let target: string

  test.beforeAll(async ({ engine, worker, folder, cleanup }) => {
    proxy = await startFaultProxy(engine.address)
    cleanup.defer(() => proxy.stop())
    const env = {
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_CATALOG_TTL: '1h',
      ENGINE_ADDRESS: proxy.address,
      // glibc fills freed memory with it: a process that uses memory after it freed it dies each time, not only by
      // chance.
      MALLOC_PERTURB_: '165',
    }
    service = await FROM_SOURCE[runtime]({ ...env, ...(tls && (await throughTls(folder, cleanup))) })
    cleanup.defer(() => service.stop())
    api = makeApi({ url: service.url })
    target = await startFirstRun(api, 'neverEnds')
  })

  async function throughTls(folder: string, cleanup: AsyncDisposableStack): Promise<Record<string, string>> {
    const { authority, server } = await makeCertificates()
    const ca = join(folder, 'ca.pem')
    await writeFile(ca, authority.cert)
    const secured = await startTcpProxy(proxy.address, { tls: { ...server, ALPNProtocols: ['h2'] } })
    cleanup.defer(() => secured.close())
    return { ENGINE_ADDRESS: secured.address, ENGINE_TLS_CA: ca, ENGINE_TLS_SERVER_NAME: 'localhost' }
  }

  const post = (path: string, body: object) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })

  /** How often each status was answered; `none` when there was no answer. */
  async function calls(count: number): Promise<Record<string, number>> {
    const seen: Record<string, number> = {}
    let left = count
    const callAll = async () => {
      while (left-- > 0) {
        const answered = fetch(`${service.url}/workflow/${target}/status`)
        const status = await answered
          .then((response) => response.text().then(() => response.status))
          .catch(() => 'none')
        seen[status] = (seen[status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: 10 }, callAll))
    return seen
  }

  test('a service with idle connections survives and responds', async () => {
    const answers = [await calls(CALLS)]

    for (let sent = 0; sent < GOAWAYS; sent++) {
      await until('no call is open', () => proxy.open() === 0)
      await proxy.goAway()
      answers.push(await calls(CALLS_BETWEEN))
    }

    expect(answers).toEqual([{ 200: CALLS }, ...Array.from({ length: GOAWAYS }, () => ({ 200: CALLS_BETWEEN }))])
  })

  test('a service under load survives and completes all calls and waits (failure 5)', async () => {
    const ids = Array.from({ length: WAITING }, () => crypto.randomUUID())
    const waiting = ids.map((workflowId) =>
      post('/workflow/run', { workflowName: 'waitForSignal', input: null, workflowId, timeout: '10m' }),
    )
    // A service that dies rejects them all.
    void Promise.allSettled(waiting)
    await until('the waits are open', () => proxy.calls.open(POLL) >= WAITING)

    let loaded = true
    const load = (async () => {
      const answers = []
      while (loaded) answers.push(await calls(CALLS_BETWEEN))
      return answers
    })()
    for (let sent = 0; sent < GOAWAYS; sent++) {
      void proxy.goAway()
      await calls(CALLS_BETWEEN)
    }
    loaded = false
    await mapConcurrent(ids, WRITES_AT_ONCE, async (id) => {
      expect((await post(`/workflow/${id}/signal/finish`, { payload: id })).status).toBe(200)
    })
    const waited = await Promise.all(waiting.map(async (answer) => (await answer).json()))

    expect(waited.map(({ output }) => output)).toEqual(ids.map((id) => [id]))
    const answers = await load
    expect(answers).toEqual(answers.map(() => ({ 200: CALLS_BETWEEN })))
  })

  test('50 starts and 50 signals, sent while connections close, are each carried out once', async () => {
    const receiver = (await (await post('/workflow/start', { workflowName: 'messages', input: null })).json())
      .workflowId
    const numbers = Array.from({ length: WRITES }, (_, number) => number)
    const idOf = (number: number) => `${receiver}-${number}`
    const signals: number[] = []
    const started: { status: number; runId: string }[] = []

    for (let first = 0; first < WRITES; first += WRITES_AT_ONCE) {
      const some = numbers.slice(first, first + WRITES_AT_ONCE)
      const sent = some.map((number) => post(`/workflow/${receiver}/signal/add`, { payload: number }))
      const starting = some.map((number) =>
        post('/workflow/start', { workflowName: 'echo', input: number, workflowId: idOf(number) }),
      )
      const closed = proxy.goAway()
      for (const answer of await Promise.all(sent)) signals.push(answer.status)
      for (const answer of await Promise.all(starting)) {
        const { runId } = await answer.json()
        started.push({ status: answer.status, runId })
      }
      await closed
    }
    expect((await post(`/workflow/${receiver}/signal/finish`, {})).status).toBe(200)
    const { gathered } = await until('the run has ended', async () => (await outputOf(receiver)) as Gathered | null)
    const runIds: string[] = []
    await mapConcurrent(numbers, WRITES_AT_ONCE, async (number) => {
      const latest = await whenInTime('a status is read', () => api.get(`${idOf(number)}/status`))
      runIds[number] = latest.body.runId
    })

    expect(signals).toEqual(numbers.map(() => 200))
    expect(gathered.toSorted((one, other) => one - other)).toEqual(numbers)
    expect(started).toEqual(runIds.map((runId) => ({ status: 200, runId })))
  })

  interface Gathered {
    gathered: number[]
  }

  async function outputOf(workflowId: string): Promise<unknown> {
    const answer = await fetch(`${service.url}/workflow/${workflowId}/result`)
    return answer.ok ? (await answer.json()).output : null
  }
})
