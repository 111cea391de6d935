import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, resetBeforeEach, sent } from './scripted-service.ts'
import { RUN, RUN_ID } from './scripted-stream.ts'

resetBeforeEach()

test('publish: sends one item or several to the run, with a key', async () => {
  const client = clientOf([ok(RUN), ok(RUN), cut, ok(RUN)])
  const items = [
    { topic: 't', data: 1 },
    { topic: 'u', data: null },
  ]

  const one = client.publish('w', { topic: 't', data: { n: 1 } })
  await vi.advanceTimersByTimeAsync(1000)
  const several = client.publish({ ...RUN }, items, { idempotencyKey: 'k' })
  await vi.advanceTimersByTimeAsync(1000)

  expect([await one, await several]).toEqual([RUN, RUN])
  expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
    'GET /workflow/w/status',
    `POST /workflow/w/runs/${RUN_ID}/stream`,
    `POST /workflow/w/runs/${RUN_ID}/stream`,
    `POST /workflow/w/runs/${RUN_ID}/stream`,
  ])
  expect(sent.slice(1).map(({ body }) => body)).toEqual([{ topic: 't', data: { n: 1 } }, { items }, { items }])
  const keys = sent.slice(1).map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), 'k', 'k'])
})
