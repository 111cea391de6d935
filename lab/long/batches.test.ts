/** A batch for more runs than a page of them has, on an engine that has no others. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { ended } from '../../test/conformance/batches.ts'
import { bulkOf } from '../../test/support/bulk.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'

const RUNS = 1500

const test = testWithOwnEngine()

test('a batch ends each of 1,500 open runs, which are two pages of them', async ({ service }) => {
  const starts = Array.from({ length: RUNS }, () => ({ workflowName: 'nothing', input: null, startDelay: '1h' }))
  const count = async (status: string) => (await service.get(`runs/count?status=${status}`)).body.count
  const { answers } = await bulkOf(service, starts)
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  await until('all are listed', async () => (await count('running')) === RUNS)

  const created = await service.call('POST', '/batches', { operation: 'terminate', filter: {} })
  const { body } = await ended(service, created.body.batchId)

  expect([created.status, created.body.matching]).toEqual([202, RUNS])
  expect(body).toMatchObject({ state: 'completed', matching: RUNS, processed: RUNS })
  await until('all ends are listed', async () => (await count('terminated')) === RUNS)
})
