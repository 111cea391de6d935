/**
 * Five thousand runs that are waited for at once. How late their responses are is measured by `lab/benchmarks/waiting.ts`.
 */
import { expect } from 'vitest'
import type { Inventory } from '../../dev/servers/print-inventory.ts'
import { type CrowdResponse, startServiceWithCrowd } from '../../dev/servers/service-with-crowd.ts'
import { type Answer, makeApi } from '../../test/support/api.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test } from '../../test/support/fixtures.ts'
import { untilEngineResponds } from './until-engine-responds.ts'

const COUNT = 5000
// An engine on a busy machine starts 20 runs per second, and ends as many.
const TIMEOUT_MS = 1_200_000
const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

let before: Inventory
let during: Inventory
let early: number
let meanwhile: Answer[]
let responses: CrowdResponse[]
let after: Inventory

test.beforeAll(async ({ cleanup }) => {
  const service = await startServiceWithCrowd()
  cleanup.defer(() => service.stop())
  const api = makeApi({ url: service.url })
  const workflowId = await startFirstRun(api, 'waitForSignal')
  // The first requests load code and grow the heap for good.
  await (await service.gather(Math.ceil(COUNT / 20))).disperse()
  before = await service.inventory()
  const crowd = await service.gather(COUNT, console.log)
  during = await service.inventory()
  await untilEngineResponds(service.engine)
  meanwhile = await Promise.all([
    api.call('GET', '/health'),
    api.call('GET', '/ready'),
    api.get(`${workflowId}/status`),
  ])
  early = crowd.answered()
  responses = await crowd.disperse(console.log)
  after = await service.inventory()
}, TIMEOUT_MS)

test('5000 waiting requests: none is answered before its run has ended', () => {
  expect(early).toBe(0)
})

test('5000 waiting requests: each is answered with the end of its own run', () => {
  const wrong = responses.filter(
    ({ status, body, workflowId }) => status !== 200 || body.workflowId !== workflowId || body.status !== 'terminated',
  )

  expect(responses).toHaveLength(COUNT)
  expect(wrong.slice(0, 3).map(({ status, text }) => [status, text])).toEqual([])
})

test('5000 waiting requests: /health, /ready and status answer meanwhile', () => {
  expect(meanwhile.map(({ status, body }) => [status, body.status])).toEqual([
    [200, 'ok'],
    [200, 'ok'],
    [200, 'running'],
  ])
})

test('5000 waiting requests: the service stays within 512 MiB (threat 53)', () => {
  expect(after.peakRssBytes / MEBIBYTE).toBeLessThanOrEqual(512)
})

test('5000 waiting requests: each takes at most 40 KiB', () => {
  expect((during.rssBytes - before.rssBytes) / COUNT / KIBIBYTE).toBeLessThanOrEqual(40)
})
