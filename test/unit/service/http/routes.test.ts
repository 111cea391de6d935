import { expect, test } from 'vitest'
import type { EngineReadiness } from '../../../../src/service/model/engine.ts'
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

test('ready: reports whether the engine can serve requests, without a token', async () => {
  const readyWhen = (engine: EngineReadiness) => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] }, workflows: { ready: async () => engine } })
    return call('GET', '/ready').then(async (response) => [response.status, await response.json()])
  }

  expect(await readyWhen('reachable')).toEqual([200, { status: 'ok', engine: 'reachable' }])
  expect(await readyWhen('unreachable')).toEqual([503, { status: 'unavailable', engine: 'unreachable' }])
  expect(await readyWhen('misconfigured')).toEqual([503, { status: 'unavailable', engine: 'misconfigured' }])
})
