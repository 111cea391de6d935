import { expect, test } from 'vitest'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../api.ts'

const keyed = { 'Idempotency-Key': 'k1' }

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
