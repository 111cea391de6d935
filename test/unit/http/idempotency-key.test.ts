import { expect, test } from 'vitest'
import type { Workflows } from '../../../src/domain/model/workflows.ts'
import { makeApi, rejection, running } from './api.ts'

const keyed = { 'Idempotency-Key': 'k1' }

test('Idempotency-Key: a request that changes something is rejected where the key is not supported', async () => {
  const { call } = makeApi()

  for (const [method, path] of [
    ['POST', '/workflow/w/terminate'],
    ['PATCH', '/workflow/w/stop'],
    ['POST', '/workflow/w/runs/01a20359-bdc4-794d-b246-49980bc65ee0/terminate'],
  ] as const)
    expect(await rejection(await call(method, path, {}, keyed))).toEqual([501, 'NotSupportedError'])
})

test('Idempotency-Key: is ignored for reads, queries among them', async () => {
  const { call } = makeApi({ workflows: { status: async () => running, query: async () => 1 } })

  expect((await call('GET', '/workflow/w/status', undefined, { 'Idempotency-Key': '' })).status).toBe(200)
  expect((await call('POST', '/workflow/w/query/q', {}, keyed)).status).toBe(200)
})

test('Idempotency-Key: is checked after the token, and before anything is executed', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })
  const invalid = { 'Idempotency-Key': 'a b' }

  expect((await call('POST', '/workflow/start', {}, invalid)).status).toBe(401)
  const rejected = await makeApi().call('POST', '/workflow/start', {}, invalid)
  expect(rejected.headers.get('Idempotency-Replayed')).toBe('false')
  expect(await rejection(rejected)).toEqual([400, 'ValidationError'])
})

test('Idempotency-Key: reaches the verb unchanged, also below a base path and for a pinned run', async () => {
  const keys: unknown[] = []
  const workflows: Partial<Workflows> = {
    async start({ idempotencyKey }) {
      keys.push(idempotencyKey)
      return { workflowId: 'w', runId: 'r' }
    },
    async validate({ idempotencyKey }) {
      keys.push(idempotencyKey)
    },
    async signal({ idempotencyKey }) {
      keys.push(idempotencyKey)
      return { workflowId: 'w', runId: 'r', warnings: [] }
    },
  }
  const { call } = makeApi({ workflows, mount: { basePath: '/base' } })
  const signal = '/base/workflow/w/runs/01a20359-bdc4-794d-b246-49980bc65ee0/signal/go'

  const start = await call(
    'POST',
    '/base/workflow/start',
    { workflowName: 'echo', input: 1 },
    { 'Idempotency-Key': '"~!' },
  )
  await call('POST', signal, {}, keyed)
  await call('POST', signal, {})
  await call('POST', '/base/workflow/validate', { workflowName: 'echo', input: 1 }, keyed)

  expect(keys).toEqual(['"~!', 'k1', undefined, 'k1'])
  expect(start.headers.get('Idempotency-Replayed')).toBe('false')
})
