import { expect, test } from 'vitest'
import { makeApi, refusal, running } from './api.ts'

const keyed = { 'Idempotency-Key': 'k1' }

test('Idempotency-Key: a request that relies on it is refused before anything is done', async () => {
  const { call } = makeApi()

  expect(await refusal(await call('POST', '/workflow/start', { workflowName: 'echo', input: 1 }, keyed))).toEqual([
    501,
    'NotSupportedError',
  ])
  expect(await refusal(await call('POST', '/workflow/w/signal/go', {}, keyed))).toEqual([501, 'NotSupportedError'])
})

test('Idempotency-Key: reading is idempotent without it', async () => {
  const { call } = makeApi({ workflows: { status: async () => running } })

  expect((await call('GET', '/workflow/w/status', undefined, keyed)).status).toBe(200)
})

test('Idempotency-Key: who may not call is told that first', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  expect((await call('POST', '/workflow/start', {}, keyed)).status).toBe(401)
})
