/** More requests that wait than Bun sends to one host at a time by default. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../../test/support/api.ts'
import { processOf } from '../../test/support/entries.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { idleClock } from './idle-clock.ts'

// With a catalog that is read once, a start takes one call of the engine.
const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

test('HTTP on Bun: more waiting requests than Bun allows by default do not block others', async ({
  engine,
  catalog,
  worker: _,
}) => {
  const env = {
    SERVICE_CATALOG_ID: catalog,
    SERVICE_CATALOG_TTL: '1h',
    SERVICE_MAX_INFLIGHT: '1000',
    ENGINE_ADDRESS: engine.address,
    ENGINE_TRANSPORT: 'http',
  }
  const service = await processOf('npm', 'run', '-s', 'start:bun')(env)
  const { url, stop } = service
  const api = makeApi({ url })
  await startFirstRun(api, 'neverEnds')
  const leaving = new AbortController()
  const answered = new AbortController()
  const ids = Array.from({ length: 260 }, () => crypto.randomUUID())
  // If the waiting requests block others, a response takes as long as their wait.
  const status = (id: string) => fetch(`${url}/workflow/${id}/status`, { signal: AbortSignal.timeout(60_000) })

  const waiting: Promise<unknown>[] = []
  for (const [index, workflowId] of ids.entries()) {
    const body = { workflowName: 'neverEnds', input: null, workflowId, timeout: '10m' }
    const answer = api.post('run', body, {}, leaving.signal).then(({ text }) => text, String)
    waiting.push(answer.then((text) => answered.abort(new Error(`It does not wait: ${text}`))))
    // All starts at once would take a slow engine longer than a request may take.
    const before = ids[index - 5]
    if (before !== undefined) await until('it runs', async () => (await status(before)).ok, { signal: answered.signal })
  }
  const lastRuns = async () => {
    const passedMs = idleClock(service)
    const last = await status(ids.at(-1) ?? '')
    return last.ok ? { answer: last, ms: passedMs() } : null
  }
  const { answer, ms } = await until('the last one runs', lastRuns, { signal: answered.signal })
  leaving.abort()
  await Promise.all(waiting)
  await stop()

  expect(answer.status).toBe(200)
  // A request that reaches the service has a response within the 5 s of the contract.
  expect(ms).toBeLessThan(5000)
})
