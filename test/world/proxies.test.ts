/** Through proxies events arrive at once, no response is stale, and compressed ones have the same content. */
import { describe, expect } from 'vitest'
import { openEvents } from '../support/event-stream.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { CALLER_HEADERS } from '../support/policy.ts'
import { type Intermediary, PROXIES } from './proxies.ts'

interface Received {
  status: number
  headers: Headers
  text: string
}

const test = sharedTest
  /** Returns the URL of the proxy in front of the service. */
  .extend('through', { scope: 'file' }, ({ serviceProcess, cleanup }) => {
    const started = new Map<string, Promise<string>>()
    const start = async (proxy: Intermediary) => {
      const { url, stop } = await proxy.start(new URL(serviceProcess.url).host)
      cleanup.defer(stop)
      return url
    }
    return (proxy: Intermediary) => {
      const running = started.get(proxy.name) ?? start(proxy)
      started.set(proxy.name, running)
      return running
    }
  })

/** Its headers are those of the proxy too, so it is no `Answer`. */
async function read(url: string, more: Record<string, string> = {}): Promise<Received> {
  const response = await fetch(url, { headers: { ...CALLER_HEADERS, ...more } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe.for(PROXIES)('$name', (it) => {
  test('events arrive while the run is open, at each of two readers', async ({ through, service }) => {
    const url = await through(it)
    const { workflowId } = (await service.start('waitForSignal')).body
    const open = () => openEvents(`${url}/workflow/${workflowId}/history/stream`)

    const readers = await Promise.all([open(), open()])
    await Promise.all(readers.map(({ next }) => next('history')))
    await service.post(`${workflowId}/signal/finish`, { payload: 'done' })
    const ends = await Promise.all(readers.map(({ next }) => next('done')))

    expect(ends.map(({ data }) => data.status)).toEqual(['completed', 'completed'])
  })

  test('the events of a run begin before it ends', async ({ through, service }) => {
    const url = await through(it)
    const body = JSON.stringify({ workflowName: 'waitForSignal', input: null })
    const headers = { Accept: 'text/event-stream', 'Content-Type': 'application/json' }

    const reader = await openEvents(`${url}/workflow/run`, { method: 'POST', headers, body })
    const { workflowId } = (await reader.next('started')).data
    await service.post(`${workflowId}/signal/finish`, { payload: 'done' })

    expect((await reader.next('result')).data).toMatchObject({ status: 'completed', output: ['done'] })
  })

  test('each response is the current one, also after a 404 and a 424', async ({ through, service }) => {
    const workflowId = crypto.randomUUID()
    const workflow = `${await through(it)}/workflow/${workflowId}`
    const current = async () => {
      const status = await read(`${workflow}/status`)
      return [status.status, JSON.parse(status.text).status, (await read(`${workflow}/result`)).status]
    }

    const missing = await current()
    await service.start('waitForSignal', null, { workflowId })
    const open = await current()
    await service.post(`${workflowId}/signal/finish`, { payload: 'done' })
    await service.get(`${workflowId}/result?wait=30s`)
    const closed = await current()

    expect([missing, open, closed]).toEqual([
      [404, 404, 404],
      [200, 'running', 424],
      [200, 'completed', 200],
    ])
  })

  test('a compressed response has the same content, and its ETag is valid', async ({ through, service }) => {
    const document = `${await through(it)}/openapi.json`
    const direct = await service.call('GET', '/openapi.json')

    const { text, headers } = await read(document)
    const again = await read(document, { 'If-None-Match': headers.get('ETag') ?? 'none' })

    const encoding = it.compresses ? 'gzip' : null
    expect([headers.get('Content-Encoding'), text === direct.text, again.status]).toEqual([encoding, true, 304])
  })
})
