/** What the client sends about batches; the command line, which uses it, is tested with a real service. */
import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, resetBeforeEach, sent, settled } from './scripted-service.ts'

resetBeforeEach()

const REQUEST = { operation: 'stop', filter: { query: "WorkflowId = 'x'" } } as const

test('the client: sends batches with a key, and reads, lists and stops them', async () => {
  const { batches } = clientOf([ok()])

  await batches.create(REQUEST, { timeoutMs: 1000, idempotencyKey: 'k' })
  await batches.create({ operation: 'signal', signal: 'approve', args: [1], filter: {} })
  await batches.get('b')
  await batches.list({ pageSize: 2, timeoutMs: 1000 }).page()
  await batches.stop('b', { reason: 'enough', timeoutMs: 1000 })

  const requests = sent.map(({ method, url, body }) => [`${method} ${url.replace('http://portico.test', '')}`, body])
  expect(requests).toEqual([
    ['POST /batches', REQUEST],
    ['POST /batches', { operation: 'signal', signal: 'approve', args: [1], filter: {} }],
    ['GET /batches/b', null],
    ['GET /batches?pageSize=2', null],
    ['POST /batches/b/stop', { reason: 'enough' }],
  ])
  const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toEqual(['k', expect.stringMatching(/^[0-9a-f]{32}$/), null, null, null])
  for (const id of ['', '.', '..']) expect(() => batches.get(id)).toThrow('is not a batch')
})

test('the client: repeats what is done to a batch, a new one with the same key', async () => {
  const repeated = async (act: (batches: ReturnType<typeof clientOf>['batches']) => Promise<unknown>) => {
    sent.length = 0
    const done = settled(act(clientOf([cut, ok()]).batches))
    await vi.advanceTimersByTimeAsync(10_000)
    await done
    return sent.map(({ headers }) => headers.get('Idempotency-Key'))
  }

  const [key, again, ...more] = await repeated((batches) => batches.create(REQUEST))

  expect([again, more]).toEqual([key, []])
  expect(await repeated((batches) => batches.stop('b'))).toEqual([null, null])
})
