/** More requests at once than `SERVICE_MAX_INFLIGHT` allows. */
import { describe, expect, onTestFinished } from 'vitest'
import { idleClock } from '../../lab/long/idle-clock.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Answer, type Api, makeApi } from '../support/api.ts'
import { FROM_SOURCE, GRPC_RUNTIMES, type ServedEntry } from '../support/entries.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { test } from '../support/fixtures.ts'
import { CALLER_HEADERS } from '../support/policy.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'
import { promisedError, promisedMs } from '../support/promises.ts'
import { readiness } from '../support/readiness.ts'
import { dial } from './bytes.ts'

describe.for(GRPC_RUNTIMES)('overload: %s', (runtime) => {
  let service: ServedEntry
  let api: Api
  let url: URL
  /** A run that no worker takes. */
  let idle: string

  test.beforeAll(async ({ faultProxy, client, worker, cleanup }) => {
    service = await FROM_SOURCE[runtime]({
      PATH: process.env.PATH ?? '',
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_MAX_INFLIGHT: '1',
      SERVICE_METRICS_ON: 'true',
      ENGINE_ADDRESS: faultProxy.address,
    })
    cleanup.defer(() => service.stop())
    url = new URL(service.url)
    api = makeApi({ url: service.url })
    idle = `${worker.taskQueue}-idle-${runtime}`
    await client.workflow.start('messages', { workflowId: idle, taskQueue: `${worker.taskQueue}-nobody` })
    await untilFree()
  })

  const status = (id: string) => api.get(`${id}/status`)
  const untilFree = () => until('the place is free', async () => (await status(idle)).status === 200)

  const queued = async () => sumOf(parseMetrics((await api.call('GET', '/metrics')).text), 'portico_requests_queued')

  /**
   * Takes the place with a read that the engine never answers. It ends after 4.5 s, and the next one has the place:
   * of those that wait, the newest is served first.
   */
  async function hold(faultProxy: FaultProxy): Promise<{ next: () => void; release: () => Promise<void> }> {
    const held = crypto.randomUUID()
    const unhang = faultProxy.on({ method: 'DescribeWorkflowExecution', containing: held, fault: 'hang' })
    const leaving = new AbortController()
    const left: Promise<unknown>[] = []
    const next = () => {
      const path = `/workflow/${held}/status`
      left.push(api.call('GET', path, undefined, {}, leaving.signal).catch(() => null))
    }
    const release = async () => {
      unhang()
      leaving.abort()
      await Promise.all(left)
    }
    onTestFinished(release)
    next()
    await until('the place is taken', () => faultProxy.hanging() === 1)
    return { next, release }
  }

  /** What `send` is answered while others hold the place for longer than it may wait. */
  async function rejectedBehind<T>({ next }: { next: () => void }, send: () => Promise<T>): Promise<T> {
    let isAnswered = false
    const answer = send().finally(() => {
      isAnswered = true
    })
    // Within a second of the last rejection it waits for 50 ms only, which a busy machine does not see.
    await until('it waits for the place, or is rejected', async () => isAnswered || (await queued()) === 1)
    next()
    return answer
  }

  // First: for a second after a rejection, requests wait for 50 ms only.
  test('a request that finds no place gets the one that another gives back; a client that leaves gives its turn up (threat 53)', async ({
    client,
    faultProxy,
  }) => {
    const [left, started] = [crypto.randomUUID(), crypto.randomUUID()]
    const { release } = await hold(faultProxy)
    const leaving = new AbortController()
    const body = (workflowId: string) => ({ workflowName: 'echo', input: null, workflowId })
    const gone = api.post('start', body(left), {}, leaving.signal).catch((error: Error) => error.name)
    await until('it waits', async () => (await queued()) === 1)
    const start = api.post('start', body(started))
    await until('both wait', async () => (await queued()) === 2)

    leaving.abort()
    await until('one of them has left', async () => (await queued()) === 1)
    await release()
    const { status: startStatus } = await start

    expect([startStatus, await gone, await queued()]).toEqual([200, 'AbortError', 0])
    expect((await status(left)).body.error).toBe('WorkflowNotFoundError')
    await client.workflow.getHandle(started).result()
  })

  test('above the limit new work is a 503 with Retry-After: 1 that starts nothing; health checks and waits are not affected (threat 53) (failure 36)', async ({
    client,
    faultProxy,
  }) => {
    const [waiting, rejected] = [crypto.randomUUID(), crypto.randomUUID()]
    const headers = {
      ...CALLER_HEADERS,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      'Idempotency-Key': waiting,
    }
    const body = JSON.stringify({ workflowName: 'waitForSignal', input: null, workflowId: waiting })
    const run = await until('a run waits', async () => {
      const answer = await fetch(`${url.origin}/workflow/run`, { method: 'POST', headers, body })
      return answer.ok && answer
    })
    const held = await hold(faultProxy)
    const sinceThen = idleClock(service)

    const start = await rejectedBehind(held, () => api.start('echo', 1, { workflowId: rejected }))
    const rejectedAfterMs = sinceThen()
    const health = [await api.call('GET', '/health'), await readiness(api)]
    await client.workflow.getHandle(waiting).signal('finish', 1)
    const events = await run.text()
    await held.release()
    await untilFree()

    expect(facts(start)).toEqual([...promisedError(36, '503 OverloadedError'), 'gateway', '1'])
    expect(rejectedAfterMs).toBeLessThan(promisedMs(36, '15 s'))
    expect(health.map((answer) => answer.status)).toEqual([200, 200])
    expect(events).toContain('"output":[1]')
    await until('it is logged', () => /"rejected":\d/.test(service.output()))
    expect((await status(rejected)).body.error).toBe('WorkflowNotFoundError')
  })

  test('a rejected request with a body leaves its connection usable for the next one', async ({ faultProxy }) => {
    const held = await hold(faultProxy)
    const wire = await dial(url.origin)
    const body = JSON.stringify({ workflowName: 'echo', input: null })
    const head = [
      'POST /workflow/start HTTP/1.1',
      `Host: ${url.host}`,
      'X-Request-Id: mine',
      ...Object.entries(CALLER_HEADERS).map(([name, value]) => `${name}: ${value}`),
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]

    wire.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    const isRejected = () => wire.text().includes('"requestId":"mine"}')
    await rejectedBehind(held, () => until('the request is rejected', isRejected))
    wire.socket.write(`GET /health HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
    await until('the next one is answered', () => wire.text().includes('{"status":"ok"}'))
    await held.release()
    await untilFree()
    wire.socket.destroy()

    expect(wire.text().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200'])
    const [rejection = ''] = wire.text().toLowerCase().split('\r\n\r\n', 1)
    expect(rejection.split('\r\n')).toEqual(
      expect.arrayContaining([
        'retry-after: 1',
        'x-request-id: mine',
        expect.stringMatching(/^content-length: \d{3}$/),
      ]),
    )
  })

  test('a query or an update that no worker answers gives its place back after a second (threat 53)', async ({
    faultProxy,
  }) => {
    const outcomes: string[] = []

    for (const path of ['query/state', 'update/set']) {
      const leaving = new AbortController()
      await until('no call is open', () => faultProxy.open() === 0)
      const held = api
        .post(`${idle}/${path}`, {}, {}, leaving.signal)
        .then(({ status }) => `answered with ${status}`)
        .catch((error: Error) => error.name)
      await until('it is with the engine', () => faultProxy.open() === 1)
      await untilFree()
      leaving.abort()
      outcomes.push(await held)
    }

    expect(outcomes).toEqual(['AbortError', 'AbortError'])
  })
})

function facts({ status, body, headers }: Answer) {
  return [status, body.error, body.source, headers.get('Retry-After')]
}
