import { describe, expect, test } from 'vitest'
import { makeApi } from './api.ts'

describe('X-Request-Id', () => {
  test("X-Request-Id: is the client's own when it consists of safe characters", async () => {
    const { call } = makeApi()

    const response = await call('GET', '/health', undefined, { 'X-Request-Id': 'order_17.retry-2' })

    expect(response.headers.get('X-Request-Id')).toBe('order_17.retry-2')
  })

  test("X-Request-Id: is a new one when the client's is too long or has other characters", async () => {
    const { call } = makeApi()

    const long = await call('GET', '/health', undefined, { 'X-Request-Id': 'x'.repeat(129) })
    const odd = await call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

    expect(long.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
    expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  })

  test('X-Request-Id: is in error responses and in their body', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

    const response = await call('GET', '/workflow/w/status', undefined, { 'X-Request-Id': 'mine' })

    expect(response.headers.get('X-Request-Id')).toBe('mine')
    expect(await response.json()).toMatchObject({ requestId: 'mine' })
  })

  test('X-Request-Id: is in preflights, 304 and 405 responses', async () => {
    const { call } = makeApi({
      corsOrigins: ['https://app.example'],
      workflows: { catalog: async (catalog) => ({ catalog, workflows: [] }) },
    })

    const preflight = await call('OPTIONS', '/workflow/run', undefined, { Origin: 'https://app.example' })
    const notModified = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': '*' })
    const wrongMethod = await call('DELETE', '/workflow/run')

    expect(
      [preflight, notModified, wrongMethod].map((response) => [response.status, response.headers.has('X-Request-Id')]),
    ).toEqual([
      [204, true],
      [304, true],
      [405, true],
    ])
  })
})
