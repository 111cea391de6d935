import { expect, test } from 'vitest'
import { rejection } from '../api.ts'
import { makeStreams, PATH, PINNED, RUN_ID } from './stream-api.ts'

test('publish: an item, or several, for the latest run or the one in the path', async () => {
  const { call, published } = makeStreams()

  const { status, headers } = await call('POST', PATH, { topic: 't', data: { a: 1 } })
  await call('POST', PATH, { topic: 't', data: null })
  const items = [
    { topic: 'a', data: 1 },
    { topic: 'b', data: [] },
  ]
  await call('POST', PINNED, { items }, { 'Idempotency-Key': 'k' })

  expect([status, headers.get('Content-Type')]).toEqual([202, 'application/json'])
  expect(published).toEqual([
    { ref: { workflowId: 'w' }, items: [{ topic: 't', data: { a: 1 } }] },
    { ref: { workflowId: 'w' }, items: [{ topic: 't', data: null }] },
    { ref: { workflowId: 'w', runId: RUN_ID }, items, idempotencyKey: 'k' },
  ])
})

test.each([
  [{}],
  [{ data: 1 }],
  [{ topic: 't' }],
  [{ topic: '', data: 1 }],
  [{ topic: 1, data: 1 }],
  [{ topic: 't', data: 1, offset: 3 }],
  [{ items: [] }],
  [{ items: [{ data: 1 }] }],
  [{ items: [{ topic: 't', data: 1 }], topic: 't' }],
  [{ items: Array.from({ length: 1001 }, () => ({ topic: 't', data: 1 })) }],
  [[{ topic: 't', data: 1 }]],
])('publish: a body that is not valid is rejected, and nothing is published (%#)', async (body) => {
  const { call, published } = makeStreams()

  expect(await rejection(await call('POST', PATH, body))).toEqual([400, 'ValidationError'])
  expect(published).toEqual([])
})
