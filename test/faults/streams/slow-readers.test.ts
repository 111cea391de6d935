/** A client that does not read, beside one that does. */
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { test } from '../../support/fixtures.ts'
import { CALLER_HEADERS } from '../../support/policy.ts'
import { parseMetrics, sumOf } from '../../support/prometheus.ts'
import { readiness } from '../../support/readiness.ts'
import { pollsOf, readStream } from './reader.ts'

const ITEM_BYTES = 200_000
const ITEMS = 40
const BUFFER_BYTES = 2_000_000

test('streams: a client that does not read delays only itself, and gets everything in the end (threat 54)', async ({
  startService,
  worker: _,
  client,
  cleanup,
}) => {
  const service = await startService({
    env: { SERVICE_STREAM_BUFFER_BYTES: String(BUFFER_BYTES) },
  })
  await readiness(service)
  const { workflowId } = (await service.start('streamSignals', {})).body
  const fast = readStream(() => service, `${workflowId}/stream`)
  await fast.first('workflow')
  const slow = pausedReader(service.url, workflowId)
  cleanup.defer(() => void slow.socket.destroy())
  let maxBuffered = 0
  for (let number = 0; number < ITEMS; number++) {
    const data = `${number} ${'x'.repeat(ITEM_BYTES)}`
    expect((await service.post(`${workflowId}/stream`, { topic: 't', data })).status).toBe(202)
    await until('the fast reader has it', () => fast.data().length === number + 1)
    const samples = parseMetrics(await (await fetch(metricsUrl(service))).text())
    maxBuffered = Math.max(maxBuffered, sumOf(samples, 'portico_stream_buffered_bytes'))
  }
  const sentBefore = slow.socket.bytesRead
  slow.socket.resume()
  await until('the slow reader has everything', () => slow.offsets().length === ITEMS)
  const polls = await pollsOf(client, workflowId)
  await service.post(`${workflowId}/signal/finish`)
  await fast.ended

  expect(sentBefore).toBeLessThan((ITEMS * ITEM_BYTES) / 2)
  expect(slow.offsets()).toEqual(Array.from({ length: ITEMS }, (_, offset) => offset))
  expect(maxBuffered).toBeGreaterThan(0)
  expect(maxBuffered).toBeLessThanOrEqual(BUFFER_BYTES)
  expect(new Set(polls).size).toBe(polls.length)
  expect(polls.length).toBeLessThanOrEqual(ITEMS + 1)
})

function metricsUrl({ events }: { events: readonly Record<string, unknown>[] }): string {
  const listening = events.find(({ message }) => message === 'listening')
  return String(listening?.metricsUrl).replace('0.0.0.0', '127.0.0.1')
}

/** A client whose socket is paused from the beginning. */
function pausedReader(url: string, workflowId: string): { socket: Socket; offsets(): number[] } {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.pause()
  const headers = Object.entries({ Host: 'localhost', ...CALLER_HEADERS }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET /workflow/${workflowId}/stream HTTP/1.1\r\n${headers.join('')}\r\n`)
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.pause()
  return {
    socket,
    offsets: () => [...text.matchAll(/data: \{"offset":(\d+),/g)].map(([, offset]) => Number(offset)),
  }
}
