/** More requests at once than `SERVICE_MAX_INFLIGHT` allows. */
import { describe, expect, onTestFinished } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Answer, type Api, makeApi } from '../support/api.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../support/entries.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { test } from '../support/fixtures.ts'
import { whenInTime } from '../support/when-in-time.ts'
import { dial } from './bytes.ts'

describe.for(GRPC_RUNTIMES)('overload: %s', (runtime) => {
  let api: Api
  let url: URL
  /** A run that no worker takes. */
  let idle: string

  test.beforeAll(async ({ faultProxy, client, worker, cleanup }) => {
    const service = await FROM_SOURCE[runtime]({
      PATH: process.env.PATH ?? '',
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_MAX_INFLIGHT: '1',
      ENGINE_ADDRESS: faultProxy.address,
    })
    cleanup.defer(() => service.stop())
    url = new URL(service.url)
    api = makeApi({ url: service.url })
    idle = `${worker.taskQueue}-idle-${runtime}`
    await client.workflow.start('messages', { workflowId: idle, taskQueue: `${worker.taskQueue}-nobody` })
  })

  const status = (id: string) => api.get(`${id}/status`)
  const untilFree = () => until('the place is free', async () => (await status(idle)).status === 200)

  /** Takes a place with a start that the engine never answers. */
  function hold(faultProxy: FaultProxy): { release: () => Promise<void> } {
    const held = crypto.randomUUID()
    const unhang = faultProxy.on({ method: 'StartWorkflowExecution', containing: held, fault: 'hang' })
    const leaving = new AbortController()
    const body = { workflowName: 'echo', input: null, workflowId: held, timeout: '5m' }
    const left = api.post('run', body, {}, leaving.signal).catch(() => null)
    const release = async () => {
      unhang()
      leaving.abort()
      await left
    }
    onTestFinished(release)
    return { release }
  }

  test('above the limit new work is a 503 that starts nothing; health checks and waits are not affected', async ({
    client,
    faultProxy,
  }) => {
    const [waiting, refused] = [crypto.randomUUID(), crypto.randomUUID()]
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      'Idempotency-Key': waiting,
    }
    const body = JSON.stringify({ workflowName: 'waitForSignal', input: null, workflowId: waiting })
    const run = await until('a run waits', async () => {
      const answer = await fetch(`${url.origin}/workflow/run`, { method: 'POST', headers, body })
      return answer.ok && answer
    })
    const { release } = hold(faultProxy)
    await until('the place is taken', () => faultProxy.hanging() === 1)

    const start = await api.start('echo', 1, { workflowId: refused })
    const ready = () => api.call('GET', '/ready')
    const health = [await api.call('GET', '/health'), await whenInTime('the engine responds', ready)]
    await client.workflow.getHandle(waiting).signal('finish', 1)
    const events = await run.text()
    await release()
    await untilFree()

    expect(facts(start)).toEqual([503, 'OverloadedError', 'gateway', '1'])
    expect(health.map((answer) => answer.status)).toEqual([200, 200])
    expect(events).toContain('"output":[1]')
    expect((await status(refused)).body.error).toBe('WorkflowNotFoundError')
  })

  test('a rejected request with a body leaves its connection usable for the next one', async ({ faultProxy }) => {
    const { release } = hold(faultProxy)
    await until('the place is taken', () => faultProxy.hanging() === 1)
    const wire = await dial(url.origin)
    const body = JSON.stringify({ workflowName: 'echo', input: null })
    const head = [
      'POST /workflow/start HTTP/1.1',
      `Host: ${url.host}`,
      'X-Request-Id: mine',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]

    wire.socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await until('the request is rejected', () => wire.text().includes('"requestId":"mine"}'))
    wire.socket.write(`GET /health HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`)
    await until('the next one is answered', () => wire.text().includes('{"status":"ok"}'))
    await release()
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

  test('a query or an update that no worker answers gives its place back after a second', async ({ faultProxy }) => {
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
