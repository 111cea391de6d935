import { expect, test } from 'vitest'
import { makeApi, rejection } from './api.ts'

test('an unmatched request: its path is not decoded, and its Idempotency-Key is not read', async () => {
  const { call } = makeApi()
  const key = { 'Idempotency-Key': 'k' }

  const responses = [
    await call('GET', '/workflow/%FF/nope'),
    await call('GET', '/workflow/%FF/status'),
    await call('POST', '/workflow/w/nope', {}, key),
    await call('PUT', '/workflow/w/terminate', {}, key),
    await call('POST', '/workflow/w/terminate', {}, key),
  ]

  expect(await Promise.all(responses.map(rejection))).toEqual([
    [404, 'NotFoundError'],
    [400, 'ValidationError'],
    [404, 'NotFoundError'],
    [405, 'MethodNotAllowedError'],
    [501, 'NotSupportedError'],
  ])
})
