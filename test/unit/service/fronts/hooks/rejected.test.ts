import { expect, test } from 'vitest'
import { JSON_TYPE, makeHookApi, START } from '../../http/endpoints/hook-api.ts'

const MINUTES_MS = 60_000

test.for([
  ['header missing', {}],
  ['signature', { 'Stripe-Signature': `t=${seconds(0)},v1=${'0'.repeat(64)}` }],
  ['signature', { 'Stripe-Signature': `t=${seconds(0)},v1=short` }],
  ['timestamp', { 'Stripe-Signature': `t=${seconds(-15 * MINUTES_MS)},v1=${'0'.repeat(64)}` }],
] as const)('hooks: the log says why a delivery was rejected: %s; the response does not', async ([reason, headers]) => {
  const { call, events } = makeHookApi({ scheme: 'stripe', start: START })

  const response = await call('POST', '/hooks/h', '{"id":"evt_1"}', { ...JSON_TYPE, ...headers })

  expect([response.status, await response.text()]).toEqual([401, expect.not.stringContaining(reason)])
  expect(events.find(({ message }) => message === 'request')?.fields).toMatchObject({ hook: 'h', reason })
})

function seconds(fromNowMs: number): number {
  return Math.floor((Date.now() + fromNowMs) / 1000)
}
