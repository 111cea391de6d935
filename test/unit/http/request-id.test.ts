import { describe, expect, test } from 'vitest'
import { makeApi } from './api.ts'

describe('X-Request-Id', () => {
  test('X-Request-Id: is the caller’s own when it is a plain one', async () => {
    const { call } = makeApi()

    const response = await call('GET', '/health', undefined, { 'X-Request-Id': 'order_17.retry-2' })

    expect(response.headers.get('X-Request-Id')).toBe('order_17.retry-2')
  })

  test('X-Request-Id: is a new one when the caller’s is too long or holds anything else', async () => {
    const { call } = makeApi()

    const long = await call('GET', '/health', undefined, { 'X-Request-Id': 'x'.repeat(129) })
    const odd = await call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

    expect(long.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
    expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  })

  test('X-Request-Id: is on refusals and in their body', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

    const response = await call('GET', '/workflow/w/status', undefined, { 'X-Request-Id': 'mine' })

    expect(response.headers.get('X-Request-Id')).toBe('mine')
    expect(await response.json()).toMatchObject({ requestId: 'mine' })
  })

  test('X-Request-Id: is on preflights, on 304 and on 405', async () => {
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
