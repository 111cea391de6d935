import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'

// The engine lists a worker for 300 s after its last poll.
const STALE_AFTER_MS = 75_000

test('explain: a worker that has stopped is noticed with the first request after its last poll is stale (failure 26)', async ({
  service,
  worker,
}) => {
  const workflowId = await startFirstRun(service, 'neverEnds')
  const path = `/workflow/${workflowId}/explain`
  await until('it waits', async () => (await service.call('GET', path)).body.verdict === 'waiting_handler')
  await worker.stop()

  let lastWithoutAt = 0
  const body = await until(
    'no worker polls',
    async () => {
      const askedAt = Date.now()
      const { status, body, text } = await service.call('GET', path)
      // A busy engine may not answer in time.
      if (status === 503) throw new Error(text)
      if (body.verdict === 'no_workers') return body
      lastWithoutAt = askedAt
      return null
    },
    { timeoutMs: 2 * STALE_AFTER_MS, everyMs: 100 },
  )
  await service.post(`${workflowId}/terminate`)

  const staleAt = Date.parse(body.since) + STALE_AFTER_MS
  expect(lastWithoutAt).toBeLessThan(staleAt)
  expect(Date.now()).toBeGreaterThanOrEqual(staleAt)
  expect(body.reasons[0]).toMatchObject({ kind: 'no_workers', taskQueue: service.catalog, tasks: 'workflow' })
}, 180_000)
