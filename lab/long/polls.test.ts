/**
 * Five hundred runs that are waited for at once. How fast all else is meanwhile is measured by `lab/benchmarks/waiting.ts`.
 */

import { expect } from 'vitest'
import { openPolls } from '../../dev/servers/engine-metrics.ts'
import type { Inventory } from '../../dev/servers/print-inventory.ts'
import { type ServiceWithWaiters, startServiceWithWaiters } from '../../dev/servers/service-with-waiters.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Answer, makeApi, seen } from '../../test/support/api.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'
import { idleClock } from './idle-clock.ts'
import { untilEngineResponds } from './until-engine-responds.ts'

const COUNT = 500

let service: ServiceWithWaiters
let workflowIds: string[]
let meanwhile: Answer[]
let answers: Answer[]
let before: Inventory

test.beforeAll(async ({ cleanup }) => {
  service = await startServiceWithWaiters()
  cleanup.defer(() => service.stop())
  const api = makeApi({ url: service.url })
  await startFirstRun(api, 'echo')
  // What the first ones load and grow stays.
  const first = await service.wait(100)
  await first.finish()
  await until('no long poll is open', async () => (await openPolls(service.engine.metricsUrl)) === 0, { everyMs: 250 })
  before = await service.inventory()
  const waiting = await service.wait(COUNT)
  workflowIds = waiting.workflowIds
  await untilEngineResponds(service.engine)
  meanwhile = await Promise.all([
    api.call('GET', '/health'),
    api.call('GET', '/ready'),
    api.get(`${workflowIds[0]}/status`),
  ])
  answers = await waiting.finish()
  for (const answer of answers) seen('POST', '/workflow/run', answer)
})

test('waiting: 500 runs at once are each answered with their own result', () => {
  expect(answers.map(({ status, body }) => [status, body.workflowId, body.status, body.output])).toEqual(
    workflowIds.map((id) => [200, id, 'completed', [id]]),
  )
})

test('waiting: /health, /ready and status answer meanwhile', () => {
  expect(meanwhile.map(({ status, body }) => [status, body.status])).toEqual([
    [200, 'ok'],
    [200, 'ok'],
    [200, 'running'],
  ])
})

test('waiting: no poll of the engine is left', async () => {
  await until('no long poll is open', async () => (await openPolls(service.engine.metricsUrl)) === 0, { everyMs: 250 })
})

test('waiting: no timer, no memory and no listener is left (threat 55)', async () => {
  const passedMs = idleClock(service)
  const areClosed = async () => {
    const now = await service.inventory()
    return now.timers - before.timers < 20 && now.sockets - before.sockets < 50 ? now : null
  }
  // The service is busy while it makes an inventory, which the clock does not count.
  const after = await until('timers and sockets are closed', areClosed, { everyMs: 100 })

  expect(passedMs()).toBeLessThan(1000)
  expect(after.heapBytes / before.heapBytes).toBeLessThan(1.2)
  expect(service.lines.filter((line) => line.includes('MaxListenersExceededWarning'))).toEqual([])
})
