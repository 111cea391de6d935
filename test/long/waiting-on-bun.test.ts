/** More requests that wait than Bun sends to one host at a time by default. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { processOf } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { idleClock } from '../support/idle-clock.ts'
import { testCatalog } from '../support/test-catalog.ts'

// With a catalog that is read once, a start takes one call of the engine.
const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

test('HTTP on Bun: more waiting requests than Bun allows by default do not block others', async ({
  engine,
  catalog,
  worker: _,
}) => {
  const env = {
    PATH: process.env.PATH ?? '',
    SERVICE_CATALOG_ID: catalog,
    SERVICE_CATALOG_TTL: '1h',
    SERVICE_PORT: '0',
    SERVICE_MAX_INFLIGHT: '1000',
    ENGINE_ADDRESS: engine.address,
    ENGINE_TRANSPORT: 'http',
  }
  const service = await processOf('npm', 'run', '-s', 'start:bun')(env)
  const { url, stop } = service
  const leaving = new AbortController()
  const WAIT_MS = 120_000
  const ids = Array.from({ length: 260 }, () => crypto.randomUUID())
  // If the waiting requests block others, a response takes as long as their wait.
  const status = (id: string) => fetch(`${url}/workflow/${id}/status`, { signal: AbortSignal.timeout(WAIT_MS / 2) })

  const waiting: Promise<unknown>[] = []
  for (const [index, workflowId] of ids.entries()) {
    const body = { workflowName: 'neverEnds', input: null, workflowId, timeout: WAIT_MS }
    waiting.push(post(url, body, leaving.signal).catch(() => {}))
    // All starts at once would take a slow engine longer than a request may take.
    const before = ids[index - 20]
    if (before !== undefined) await until('it runs', async () => (await status(before)).ok)
  }
  const { answer, ms } = await until('the last one runs', async () => {
    const passedMs = idleClock(service)
    const last = await status(ids.at(-1) ?? '')
    return last.ok ? { answer: last, ms: passedMs() } : null
  })
  leaving.abort()
  await Promise.all(waiting)
  await stop()

  expect(answer.status).toBe(200)
  // A request that reaches the service has a response within the 5 s of the contract.
  expect(ms).toBeLessThan(5000)
})

function post(url: string, body: object, signal: AbortSignal): Promise<Response> {
  return fetch(`${url}/workflow/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
}
