import { expect, test } from 'vitest'
import type { EngineReadiness } from '../../../src/domain/model/engine.ts'
import { makeApi, rejecting, rejection, running } from './api.ts'

test('NotFoundError: an unknown route, a trailing slash, an empty id', async () => {
  const { call } = makeApi()

  for (const path of [
    '/',
    '/nope',
    '/workflow',
    '/workflow/',
    '/health/',
    '/workflow/run/',
    '/workflow//status',
    '/workflow/w/status/',
    '/workflow/w/signal/',
  ]) {
    expect([path, ...(await rejection(await call('GET', path)))]).toEqual([path, 404, 'NotFoundError'])
  }
})

test('NotFoundError: routes are matched without decoding the path', async () => {
  const { call } = makeApi()

  expect(await rejection(await call('POST', '/workflow/%72un', {}))).toEqual([404, 'NotFoundError'])
})

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

test('MethodNotAllowedError: lists the methods of the route', async () => {
  const { call } = makeApi()

  const run = await call('GET', '/workflow/run')
  const stop = await call('POST', '/workflow/w/stop')
  const status = await call('DELETE', '/workflow/w/runs/00000000-0000-4000-8000-000000000000/status')
  const health = await call('PUT', '/health')

  expect([run, stop, status, health].map((response) => [response.status, response.headers.get('Allow')])).toEqual([
    [405, 'POST'],
    [405, 'PATCH'],
    [405, 'GET, HEAD'],
    [405, 'GET, HEAD'],
  ])
  expect(await run.json()).toMatchObject({
    error: 'MethodNotAllowedError',
    message: 'Method GET is not allowed; use POST',
  })
})

test('MethodNotAllowedError: does not replace a 404 of the domain', async () => {
  const { call } = makeApi({ workflows: { status: rejecting('WorkflowNotFoundError') } })

  expect(await rejection(await call('GET', '/workflow/w/status'))).toEqual([404, 'WorkflowNotFoundError'])
})

test('HEAD: responds like GET, without the body', async () => {
  const { call } = makeApi({ workflows: { status: async () => running } })

  const found = await call('HEAD', '/workflow/w/status')
  const wrong = await call('HEAD', '/workflow/run')

  expect([found.status, await found.text(), wrong.status]).toEqual([200, '', 405])
})

test('OPTIONS: lists the methods of a route, and needs no token', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const known = await call('OPTIONS', '/workflow/w/stop')
  const unknown = await call('OPTIONS', '/nope')

  expect([known.status, known.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
})

test('health: needs no token and no engine', async () => {
  const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

  const response = await call('GET', '/health')

  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
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
