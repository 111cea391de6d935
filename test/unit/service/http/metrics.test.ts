import { describe, expect, test } from 'vitest'
import { createMetricsApp } from '../../../../src/service/metrics-app.ts'
import { makeApi, rejection } from './api.ts'

const read = () => 'up 1\n'

describe('GET /metrics', () => {
  test('is another route as long as metrics are off (threat 96)', async () => {
    const { call } = makeApi()

    expect(await rejection(await call('GET', '/metrics'))).toEqual([404, 'NotFoundError'])
  })

  test('requires the token, as it is on the port of the API (threat 96)', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] }, readMetrics: read })

    const [without, withToken] = [
      await call('GET', '/metrics'),
      await call('GET', '/metrics', undefined, { Authorization: 'Bearer s3cret' }),
    ]

    expect([without.status, withToken.status, await withToken.text()]).toEqual([401, 200, 'up 1\n'])
  })

  test('is 501 where metrics are not supported', async () => {
    const { call } = makeApi({ readMetrics: null })

    expect(await rejection(await call('GET', '/metrics'))).toEqual([501, 'NotSupportedError'])
  })

  test('is logged at the debug level, like probes', async () => {
    const { call, events } = makeApi({ readMetrics: read })

    await call('GET', '/metrics')

    expect(events).toMatchObject([{ level: 'debug', fields: { route: '/metrics', status: 200 } }])
  })
})

describe('createMetricsApp', () => {
  const get = (path: string, loopbackOnly = false) =>
    createMetricsApp({ read, loopbackOnly, log: () => {} }).fetch(new Request(`http://portico.test${path}`))

  test('createMetricsApp: serves /metrics without a token', async () => {
    const response = await get('/metrics')

    const facts = [response.status, response.headers.get('Content-Type'), await response.text()]
    expect(facts).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8', 'up 1\n'])
  })

  test('createMetricsApp: serves nothing else (threat 96)', async () => {
    expect(await rejection(await get('/health'))).toEqual([404, 'NotFoundError'])
  })

  test('createMetricsApp: without a token, only under a name of this machine, like the API (threat 61)', async () => {
    expect(await rejection(await get('/metrics', true))).toEqual([403, 'ForbiddenError'])
  })
})
