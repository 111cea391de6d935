import { expect, test } from 'vitest'
import { makeApi, refusal, running } from './api.ts'

const keyed = { 'Idempotency-Key': 'k1' }

test('Idempotency-Key: is rejected before anything is executed', async () => {
  const { call } = makeApi()

  expect(await refusal(await call('POST', '/workflow/start', { workflowName: 'echo', input: 1 }, keyed))).toEqual([
    501,
    'NotSupportedError',
  ])
  expect(await refusal(await call('POST', '/workflow/w/signal/go', {}, keyed))).toEqual([501, 'NotSupportedError'])
})

test('Idempotency-Key: is ignored for reads', async () => {
  const { call } = makeApi({ workflows: { status: async () => running } })

  expect((await call('GET', '/workflow/w/status', undefined, keyed)).status).toBe(200)
})

test('Idempotency-Key: is checked after the token', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  expect((await call('POST', '/workflow/start', {}, keyed)).status).toBe(401)
})
