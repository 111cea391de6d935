/** A client that disconnects ends its wait, and with it the engine's poll, on every runtime. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { POLL } from '../support/call-log.ts'
import {
  FROM_SOURCE,
  GRPC_RUNTIMES,
  type ServedEntry,
  type ServeEntry,
  workerdOf,
  wranglerOf,
} from '../support/entries.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test } from '../support/fixtures.ts'

const LEAVE = {
  /** Sends a FIN, like most clients. */
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
}
type How = keyof typeof LEAVE
const BOTH: How[] = ['closes', 'resets']

describe.concurrent.each<{ name: string; entry: () => Promise<ServeEntry>; json: How[] }>([
  ...GRPC_RUNTIMES.map((name) => ({ name, entry: async () => FROM_SOURCE[name], json: BOTH })),
  // workerd notices a FIN only when it writes, and it writes a JSON response only after the wait.
  { name: 'workerd', entry: async () => workerdOf(join(await ensureBundles(), 'workerd.js')), json: ['resets'] },
  // The proxy of wrangler turns a reset into a FIN.
  { name: 'wrangler dev', entry: async () => wranglerOf(join(await ensureBundles(), 'workerd.js')), json: [] },
])('$name', ({ entry, json }) => {
  let service: ServedEntry
  let proxy: FaultProxy

  test.beforeAll(async ({ faultProxy, catalog, worker: _, cleanup }) => {
    proxy = faultProxy
    service = await (await entry())({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_ALLOW_ANONYMOUS: 'true',
      ENGINE_ADDRESS: proxy.address,
      ENGINE_HTTP_URL: proxy.httpUrl ?? '',
    })
    cleanup.defer(() => service.stop())
    const uncompressed = (request: Request) => {
      // Otherwise the proxy of wrangler compresses the response.
      request.headers.set('Accept-Encoding', 'identity')
      return fetch(request)
    }
    await startFirstRun(makeApi({ url: service.url, fetch: uncompressed }), 'nothing')
  })

  /** Returns the id of the run. */
  async function runAndLeave(accept: string, timeout: string, how: How) {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.on('error', () => {})
    const workflowId = crypto.randomUUID()
    const body = JSON.stringify({ workflowName: 'neverEnds', input: null, timeout, workflowId })
    socket.write(
      `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until('the run is polled', () => proxy.calls.open(POLL, workflowId) === 1)
    socket.resume()
    LEAVE[how](socket)
    return workflowId
  }

  async function expectNoPoll(workflowId: string): Promise<void> {
    const isOver = () => proxy.calls.open(POLL, workflowId) === 0
    // The engine itself ends a poll after 20 s.
    await until('no poll is open', isOver, { timeoutMs: 18_000 })
    // And no new poll follows.
    await expect(
      until('it is polled again', () => proxy.calls.open(POLL, workflowId) > 0, { timeoutMs: 1500 }),
    ).rejects.toThrow()
  }

  test.each(BOTH)(
    'disconnects: the poll of an event stream ends when the client %s its connection (threat 55)',
    async (how) => {
      const left = await runAndLeave('text/event-stream', '120s', how)

      await expectNoPoll(left)
    },
  )

  test.each(json)('disconnects: the poll of a JSON response ends when the client %s its connection', async (how) => {
    const left = await runAndLeave('application/json', '120s', how)

    await expectNoPoll(left)
  })

  test('disconnects: polls end with the timeout of their request (threat 55)', async () => {
    const left = await runAndLeave('application/json', '6s', 'closes')

    await expectNoPoll(left)
  })
})
