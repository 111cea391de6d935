/** How soon happens what other tests only put in order, by clocks without the time in which the machine is busy. */
import { describe, expect } from 'vitest'
import { isTaken } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { dial } from '../../test/faults/bytes.ts'
import { type Answer, type Api, makeApi } from '../../test/support/api.ts'
import { POLL } from '../../test/support/call-log.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../../test/support/entries.ts'
import { test } from '../../test/support/fixtures.ts'
import { readiness } from '../../test/support/readiness.ts'
import { idleClock } from './idle-clock.ts'

const SHUTDOWN_TIMEOUT_MS = 5000
const CLIENTS = 50

describe.for(GRPC_RUNTIMES)('promptness: %s', (runtime) => {
  async function serve(engine: { address: string }, catalog: string, env: Record<string, string> = {}) {
    const service = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_SHUTDOWN_TIMEOUT: `${SHUTDOWN_TIMEOUT_MS}`,
      ENGINE_ADDRESS: engine.address,
      ...env,
    })
    const api = makeApi({ url: service.url })
    await readiness(api)
    return { service, api }
  }

  test('the polls for clients that disconnect end within a second', async ({
    faultProxy,
    catalog,
    worker: _,
    cleanup,
  }) => {
    const { service, api } = await serve(faultProxy, catalog)
    cleanup.defer(() => service.stop())
    const leaving = new AbortController()
    const ids = Array.from({ length: CLIENTS }, () => crypto.randomUUID())
    const followed = crypto.randomUUID()
    await api.start('neverEnds', null, { workflowId: followed })
    const { body } = await until('its first workflow task is completed', async () => {
      const answer = await api.get(`${followed}/history`)
      return answer.body.events.length >= 4 && answer
    })
    const get = (path: string, accept: string) =>
      api.call('GET', `/workflow/${followed}/${path}`, undefined, { Accept: accept }, leaving.signal)
    const clients = [
      ...ids.map((workflowId) =>
        api.post('run', { workflowName: 'neverEnds', input: null, workflowId, timeout: '10m' }, {}, leaving.signal),
      ),
      get('result?wait=60s', 'application/json'),
      get('result?wait=60s', 'text/event-stream'),
      get('history/stream', 'text/event-stream'),
      get(`history?wait=60s&pageToken=${body.nextPageToken}`, 'application/json'),
    ].map((answer) => answer.catch(() => null))
    // The waits for the result of one run share a poll.
    await until('all wait', () => faultProxy.calls.open(POLL) >= CLIENTS + 3)

    const passedMs = idleClock(service)
    leaving.abort()
    await until('no poll is left', () => faultProxy.calls.open(POLL) === 0)

    expect(passedMs()).toBeLessThan(1000)
    await Promise.all(clients)
    for (const id of [...ids, followed]) await api.post(`${id}/terminate`)
  })

  test('an endless body without a token gets its response within half a second, and on Node ends within a second (threat 45)', async ({
    engine,
    catalog,
    cleanup,
  }) => {
    const service = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_API_AUTH_TOKEN: 'token-of-this-test',
      ENGINE_ADDRESS: engine.address,
    })
    cleanup.defer(() => service.stop())
    const wire = await dial(service.url)

    const passedMs = idleClock(service)
    wire.socket.write('POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    // Not as fast as it can: the clock does not count time in which the service is busy.
    const sending = setInterval(
      () => wire.socket.writable && wire.socket.write(`1000\r\n${'x'.repeat(0x1000)}\r\n`),
      100,
    )
    await until('it is answered', () => wire.text().includes(' 401 '))
    const answeredMs = passedMs()
    // Bun and Deno read the body to its end.
    if (runtime === 'Node') await until('it has ended', () => wire.socket.destroyed)
    const endedMs = passedMs()
    clearInterval(sending)
    wire.socket.destroy()

    expect(answeredMs).toBeLessThan(500)
    expect(endedMs - answeredMs).toBeLessThan(1000)
  })

  test('an incomplete body is rejected after 25 to 31 s (threat 46)', async ({ engine, catalog, cleanup }) => {
    const { service } = await serve(engine, catalog)
    cleanup.defer(() => service.stop())
    const wire = await dial(service.url)

    const sentAt = performance.now()
    const passedMs = idleClock(service)
    wire.socket.write(
      'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"workflowName"',
    )
    await until('it is answered', () => wire.text().includes(' 408 '))

    expect(performance.now() - sentAt).toBeGreaterThan(25_000)
    expect(passedMs()).toBeLessThan(31_000)
    wire.socket.destroy()
  })

  test('a run without a timeout is waited for for 30 s', async ({ engine, catalog, worker: _, cleanup }) => {
    const { service, api } = await serve(engine, catalog)
    cleanup.defer(() => service.stop())
    const sentAt = performance.now()
    const passedMs = idleClock(service)

    const { status, body } = await api.run('neverEnds')

    expect(status).toBe(424)
    expect(performance.now() - sentAt).toBeGreaterThan(29_900)
    expect(passedMs()).toBeLessThan(35_000)
    await api.post(`${body.workflowId}/terminate`)
  })

  test('requests to an engine that does not respond, or is not there, end within 5 s', async ({
    faultProxy,
    catalog,
    cleanup,
  }) => {
    const { service, api } = await serve(faultProxy, catalog)
    const workflowId = crypto.randomUUID()
    cleanup.defer(faultProxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'hang' }))
    cleanup.defer(() => service.stop())

    const passedMs = idleClock(service)
    const { status } = await api.get(`${workflowId}/status`)

    expect(status).toBe(503)
    expect(passedMs()).toBeLessThan(5000)
  })

  test('SIGTERM: idle and new connections end within a second, waits a second before the deadline', async ({
    engine,
    catalog,
    worker: _,
  }) => {
    const { service, api } = await serve(engine, catalog)
    const idle = await dial(service.url)
    idle.socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('it is answered', () => idle.text().includes('ok'))
    const { answer } = await startWaiting(api)

    const signaledAt = performance.now()
    const passedMs = idleClock(service)
    process.kill(service.pid, 'SIGTERM')
    const idleClosedMs = idle.closed.then(passedMs)
    await until('new connections are rejected', async () => !(await isTaken(Number(new URL(service.url).port))))
    const rejectedMs = passedMs()
    const { status } = await answer
    const [wallMs, answeredMs] = [performance.now() - signaledAt, passedMs()]
    const ended = await service.ended

    expect([await idleClosedMs, rejectedMs].filter((ms) => ms >= 1000)).toEqual([])
    expect(status).toBe(424)
    expect(wallMs).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS - 1100)
    expect(answeredMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS)
    expect(ended).toEqual({ code: 0, signal: null })
    expect(passedMs()).toBeLessThan(SHUTDOWN_TIMEOUT_MS + 500)
  })

  test('a second SIGTERM after half a second ends a service that waits within 2.5 s', async ({
    engine,
    catalog,
    worker: _,
  }) => {
    const { service, api } = await serve(engine, catalog, { SERVICE_SHUTDOWN_TIMEOUT: '20s' })
    const { answer } = await startWaiting(api)
    const waiting = answer.catch((error: Error) => error)

    const signaledAt = performance.now()
    const passedMs = idleClock(service)
    const signaling = setInterval(() => process.kill(service.pid, 'SIGTERM'), 100)
    const ended = await service.ended.finally(() => clearInterval(signaling))

    expect(ended.code).toBe(1)
    expect(performance.now() - signaledAt).toBeGreaterThan(500)
    expect(passedMs()).toBeLessThan(2500)
    expect(await waiting).toBeInstanceOf(Error)
  })
})

/** A request that waits for a run. */
async function startWaiting(api: Api): Promise<{ answer: Promise<Answer> }> {
  const workflowId = crypto.randomUUID()
  const answer = api.run('neverEnds', null, { workflowId, timeout: '10m' })
  await until('it runs', async () => (await api.get(`${workflowId}/status`)).body.historyLength >= 4)
  return { answer }
}
