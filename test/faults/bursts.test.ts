/** More requests at the same instant than `SERVICE_MAX_INFLIGHT`, on a service that is idle otherwise. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { parseMetrics, sumOf } from '../support/prometheus.ts'

const STARTS = 500
// How long a request of a burst waits for a place.
const PATIENCE_MS = 3000
// Of which as much is needed at most, on the machine that the test runs on.
const EXPECTED_SHARE = 0.5

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({
  SERVICE_METRICS_ON: 'true',
  SERVICE_CATALOG_TTL: '10m',
}))

test('a burst of 500 starts, fewer on a busy machine: none is rejected, and each starts its own run', async ({
  serviceProcess,
}) => {
  const api = makeApi(serviceProcess)
  await startFirstRun(api, 'echo')

  /** The ids of the runs; throws if one is not started. */
  async function startAtOnce(count: number): Promise<string[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => api.start('nothing')))
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
    return answers.map(({ body }) => body.workflowId)
  }

  /** Fewer on a machine that is busy with other tests: what it starts in half of the time that a request waits. */
  async function burstSize(): Promise<number> {
    const beganAt = performance.now()
    await startAtOnce(64)
    const startMs = (performance.now() - beganAt) / 64
    return Math.min(STARTS, Math.max(128, Math.floor((PATIENCE_MS * EXPECTED_SHARE) / startMs)))
  }

  const size = await burstSize()
  const ids = await until('a burst is started', () => startAtOnce(size))
  console.log(`${size} starts at once`)

  expect(new Set(ids).size).toBe(size)
  const samples = parseMetrics((await api.call('GET', '/metrics')).text)
  expect([sumOf(samples, 'portico_requests_in_flight'), sumOf(samples, 'portico_requests_queued')]).toEqual([0, 0])
})
