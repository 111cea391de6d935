/** A client that disconnects ends its wait, and with it the engine's poll, on every runtime. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import type { RunningEngine } from '../../dev/servers/engine.ts'
import { openPolls } from '../../dev/servers/engine-metrics.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { until } from '../../dev/servers/until.ts'
import { processOf, type ServedEntry, type ServeEntry, workerdOf, wranglerOf } from '../support/entries.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'

const WITHIN_MS = 5000
// The engine renders all its metrics for each request.
const METRICS_EVERY_MS = 100

// The tests read the metrics of the engine, so nothing else may use it.
const test = testWithOwnEngine()

const LEAVE = {
  /** Sends a FIN, like most clients. */
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
}
type How = keyof typeof LEAVE
const BOTH: How[] = ['closes', 'resets']

describe.each<{ name: string; entry: () => Promise<ServeEntry>; json: How[] }>([
  { name: 'Node', entry: async () => processOf(process.execPath, 'src/runtime/node/index.ts'), json: BOTH },
  { name: 'Bun', entry: async () => processOf(bin('bun'), 'src/runtime/bun.ts'), json: BOTH },
  {
    name: 'Deno',
    entry: async () => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, 'src/runtime/deno.ts'),
    json: BOTH,
  },
  // workerd notices a FIN only when it writes, and it writes a JSON response only after the wait.
  { name: 'workerd', entry: async () => workerdOf(join(await ensureBundles(), 'workerd.js')), json: ['resets'] },
  // The proxy of wrangler turns a reset into a FIN.
  { name: 'wrangler dev', entry: async () => wranglerOf(join(await ensureBundles(), 'workerd.js')), json: [] },
])('$name', ({ entry, json }) => {
  let service: ServedEntry
  let engine: RunningEngine

  test.beforeAll(async ({ engine: ownEngine, catalog, worker: _, cleanup }) => {
    engine = ownEngine
    service = await (await entry())({
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: catalog,
      SERVICE_ALLOW_ANONYMOUS: 'true',
      ENGINE_ADDRESS: engine.address,
      ENGINE_HTTP_URL: engine.httpUrl,
    })
    cleanup.defer(() => service.stop())
  })

  async function runAndLeave(accept: string, timeout: string, how: How): Promise<void> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.on('error', () => {})
    const body = JSON.stringify({ workflowName: 'neverEnds', input: null, timeout })
    socket.write(
      `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until('the run is polled', async () => (await openPolls(engine.metricsUrl)) === 1, {
      everyMs: METRICS_EVERY_MS,
    })
    socket.resume()
    LEAVE[how](socket)
  }

  async function expectNoPoll(timeoutMs: number): Promise<void> {
    await until('no poll is open', async () => (await openPolls(engine.metricsUrl)) === 0, {
      timeoutMs,
      everyMs: METRICS_EVERY_MS,
    })
    // And no new poll follows.
    await expect(
      until('it is polled again', async () => (await openPolls(engine.metricsUrl)) > 0, {
        timeoutMs: 1500,
        everyMs: METRICS_EVERY_MS,
      }),
    ).rejects.toThrow()
  }

  test.each(BOTH)('disconnects: the poll of an event stream ends when the client %s its connection', async (how) => {
    await runAndLeave('text/event-stream', '120s', how)

    await expectNoPoll(WITHIN_MS)
  })

  test.each(json)('disconnects: the poll of a JSON response ends when the client %s its connection', async (how) => {
    await runAndLeave('application/json', '120s', how)

    await expectNoPoll(WITHIN_MS)
  })

  test('disconnects: polls end with the timeout of their request', async () => {
    await runAndLeave('application/json', '3s', 'closes')

    await expectNoPoll(3000 + WITHIN_MS)
  })
})
