/** Four hundred concurrent clients that never finish their request. */

import { expect } from 'vitest'
import { median } from '../../dev/percentiles.ts'
import { serveNode } from '../../src/service/runtime/node/server.ts'
import type { Listener } from '../../src/service/runtime/service.ts'
import { answersOf, dial, type Wire } from '../../test/faults/bytes.ts'
import { type Api, makeApi } from '../../test/support/api.ts'
import { test } from '../../test/support/fixtures.ts'
import { runningMs } from './running-ms.ts'

let server: Listener
let api: Api
const wires: Wire[] = []
const closedMs: Promise<number>[] = []

test.beforeAll(async ({ serve, cleanup }) => {
  server = await serveNode({ fetch: serve().fetch, host: '127.0.0.1', port: 0 })
  cleanup.defer(() => server.close())
  api = makeApi({ url: server.url })
  cleanup.defer(() => {
    for (const { socket } of wires) socket.destroy()
  })
})

// The contract's bound, counted from the first byte.
const CLOSED_WITHIN_MS = 30_000

test('slow clients: each gets a 408 and is disconnected within 30 s, and /health stays responsive (threat 46)', async () => {
  const bodies = await many(
    100,
    'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"workflowName":',
  )
  const chunks = await many(
    100,
    'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"wor\r\n',
  )
  const heads = await many(100, 'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\n')
  const both = await many(
    100,
    'POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n',
  )
  const dribbling = dribble(heads, both)

  const took = await healthUntil(Promise.all(closedMs))
  clearInterval(dribbling)

  expect(took.length).toBeGreaterThan(100)
  expect(median(took)).toBeLessThan(100)
  expect(Math.max(...took)).toBeLessThan(2000)
  expect(Math.max(...(await Promise.all(closedMs)))).toBeLessThan(CLOSED_WITHIN_MS)
  for (const wire of [...bodies, ...chunks, ...heads, ...both]) {
    expect(answersOf(wire, 'POST', '/workflow/run')).toMatchObject([{ status: 408, error: 'RequestTimeoutError' }])
  }
})

async function many(count: number, bytes: string): Promise<Wire[]> {
  const dialledAt = runningMs()
  const dialled = await Promise.all(Array.from({ length: count }, () => dial(server.url)))
  for (const { socket } of dialled) socket.write(bytes)
  wires.push(...dialled)
  closedMs.push(...dialled.map(({ closed }) => closed.then(() => runningMs() - dialledAt)))
  return dialled
}

/** Some go on with their headers for ever, others with their body once that took them 15 s. */
function dribble(heads: Wire[], both: Wire[]): NodeJS.Timeout {
  let seconds = 0
  return setInterval(() => {
    seconds++
    writeToOpen(heads, `X-${seconds}: a\r\n`)
    writeToOpen(both, headThenBody(seconds))
  }, 1000)
}

function headThenBody(seconds: number): string {
  if (seconds < 15) return `X-${seconds}: a\r\n`
  return seconds === 15 ? '\r\n' : ' '
}

function writeToOpen(targets: Wire[], bytes: string): void {
  for (const { socket } of targets) if (socket.writable) socket.write(bytes)
}

/** The durations of the responses to twenty requests a second until `end`, sent however long the earlier ones take. */
async function healthUntil(end: Promise<unknown>): Promise<number[]> {
  const took: Promise<number>[] = []
  const asking = setInterval(() => took.push(healthMs()), 50)
  await end
  clearInterval(asking)
  return Promise.all(took)
}

async function healthMs(): Promise<number> {
  const askedAt = runningMs()
  expect((await api.call('GET', '/health')).status).toBe(200)
  return runningMs() - askedAt
}
