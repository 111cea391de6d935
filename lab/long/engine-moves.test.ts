/** The engine comes back at another address of its name, as a pod or a load balancer does. */
import { describe, expect } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { GRPC_RUNTIMES, type ServedEntry, SOURCE_COMMANDS } from '../../test/support/entries.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'
import { type HostsFile, hostsFileOf } from '../../test/support/hosts-file.ts'
import { promisedError, promisedMs } from '../../test/support/promises.ts'
import { heldBy, untilHeldAsBefore } from './held.ts'
import { idleClock } from './idle-clock.ts'
import { whenInTime } from './when-in-time.ts'

const NAME = 'engine.test'
const USABLE_MS = promisedMs(3, '5 s')
const [AWAY] = promisedError(3, '503')
const WAITING = 5

// The SDK sends a ping every 30 s, and waits 15 s for its answer. The next attempt has to connect.
const SILENT_MS = promisedMs(4, '45 s') + USABLE_MS

describe.for(GRPC_RUNTIMES)('the engine moves: %s', (runtime) => {
  let at: (host: string) => Promise<TcpProxy>
  let proxy: TcpProxy
  let hosts: HostsFile
  let service: ServedEntry
  let api: Api
  let target: string

  test.beforeAll(async ({ engine, worker, folder, cleanup }) => {
    proxy = await startTcpProxy(engine.address, { host: '127.0.0.2' })
    const port = Number(proxy.address.split(':')[1])
    at = async (host) => {
      const moved = await startTcpProxy(engine.address, { host, port })
      cleanup.defer(() => moved.close())
      return moved
    }
    hosts = await hostsFileOf(NAME, folder)
    await hosts.resolve('127.0.0.2')
    service = await hosts.processOf(...SOURCE_COMMANDS[runtime])({
      SERVICE_CATALOG_ID: worker.taskQueue,
      ENGINE_ADDRESS: `${NAME}:${port}`,
    })
    cleanup.defer(() => service.stop())
    api = makeApi({ url: service.url, engine: 'disturbed' })
    target = await startFirstRun(api, 'neverEnds')
  })

  /** Starts runs and waits for them while `move` takes the engine away and brings it back. */
  async function surviving(move: () => Promise<() => number>) {
    const ids = Array.from({ length: WAITING }, () => crypto.randomUUID())
    const waiting = ids.map((workflowId) =>
      // A run that has been started is not started again: that would be a 409.
      whenInTime('it starts', () => api.run('waitForSignal', null, { workflowId, timeout: '10m' })),
    )
    void Promise.allSettled(waiting)
    await until('the runs exist', async () => {
      const answers = await Promise.all(ids.map((id) => api.get(`${id}/status`)))
      return answers.every(({ status }) => status === 200)
    })
    await until('they are waited for', async () => (await heldBy(service, proxy)).polls === WAITING)
    const held = await heldBy(service, proxy)
    const sinceBack = await move()
    const usableAfterMs = await until('the engine is used', async () => {
      const sentAfterMs = sinceBack()
      const answers = await Promise.all([api.call('GET', '/ready'), api.get(`${target}/status`)])
      return answers.every(({ status }) => status === 200) && sentAfterMs
    })
    await untilHeldAsBefore(held, service, proxy)
    const finish = (id: string) =>
      whenInTime(`${id} is signaled`, () => api.post(`${id}/signal/finish`, { payload: id }))
    await Promise.all(ids.map(finish))
    const outputs = (await Promise.all(waiting)).map(({ body }) => body.output)
    return { usableAfterMs, outputs, expected: ids.map((id) => [id]) }
  }

  test('it is usable within 5 s, and waits survive (failure 3)', async () => {
    const { usableAfterMs, outputs, expected } = await surviving(async () => {
      await proxy.close()
      await until('it is missed', async () => (await api.get(`${target}/status`)).status === AWAY)
      proxy = await at('127.0.0.3')
      await hosts.resolve('127.0.0.3')
      return idleClock(service)
    })

    expect(outputs).toEqual(expected)
    expect(usableAfterMs).toBeLessThan(USABLE_MS)
  })

  test('a name that did not resolve for a while is used within 5 s (failure 3)', async () => {
    const { usableAfterMs, outputs, expected } = await surviving(async () => {
      await hosts.resolve()
      await proxy.close()
      await until('it is missed', async () => (await api.call('GET', '/ready')).status === 503)
      proxy = await at('127.0.0.4')
      await hosts.resolve('127.0.0.4')
      return idleClock(service)
    })

    expect(outputs).toEqual(expected)
    expect(usableAfterMs).toBeLessThan(USABLE_MS)
  })

  test('of two addresses the one that responds is used within 5 s (failure 3)', async () => {
    const { usableAfterMs, outputs, expected } = await surviving(async () => {
      const moved = await at('127.0.0.5')
      // Nothing listens at the first one.
      await hosts.resolve('127.0.0.6', '127.0.0.5')
      await proxy.close()
      proxy = moved
      return idleClock(service)
    })

    expect(outputs).toEqual(expected)
    expect(usableAfterMs).toBeLessThan(USABLE_MS)
  })

  test('silent connections are replaced after a ping without an answer (failure 4)', async () => {
    let answer: [status: number, answeredMs: number] = [0, 0]
    const { usableAfterMs, outputs, expected } = await surviving(async () => {
      proxy.silence()
      const passedMs = idleClock(service)
      answer = [(await api.get(`${target}/status`)).status, passedMs()]
      return passedMs
    })

    const [status, answeredMs] = answer
    expect([status]).toEqual(promisedError(4, '503'))
    expect(answeredMs).toBeLessThan(promisedMs(4, '5 s'))
    expect(outputs).toEqual(expected)
    expect(usableAfterMs).toBeLessThan(SILENT_MS)
  })
})
