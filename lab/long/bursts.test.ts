/** More requests at the same instant than `SERVICE_MAX_INFLIGHT`, on a service that is idle otherwise. */
import { expect } from 'vitest'
import { makeApi } from '../../test/support/api.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { parseMetrics, sumOf } from '../../test/support/prometheus.ts'

const STARTS = 500

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({
  SERVICE_METRICS_ON: 'true',
  SERVICE_CATALOG_TTL: '10m',
}))

test('500 starts at the same instant: none is rejected, and each starts its own run (failure 36)', async ({
  serviceProcess,
}) => {
  const api = makeApi(serviceProcess)
  await startFirstRun(api, 'echo')

  const answers = await Promise.all(Array.from({ length: STARTS }, () => api.start('nothing')))

  expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
  expect(new Set(answers.map(({ body }) => body.workflowId)).size).toBe(STARTS)
  const samples = parseMetrics((await api.call('GET', '/metrics')).text)
  expect([sumOf(samples, 'portico_requests_in_flight'), sumOf(samples, 'portico_requests_queued')]).toEqual([0, 0])
})
