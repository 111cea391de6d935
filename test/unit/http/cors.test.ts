import { describe, expect, test } from 'vitest'
import { makeApi } from './api.ts'

describe('CORS', () => {
  const api = () => makeApi({ corsOrigins: ['https://app.example'], auth: { tokens: ['s3cret'] } })

  test('CORS: a preflight is answered before anybody asks for a token', async () => {
    const response = await api().call('OPTIONS', '/workflow/w/stop', undefined, {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'PATCH',
    })

    expect(response.status).toBe(204)
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
    expect(response.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(response.headers.get('Access-Control-Allow-Headers')).toContain('Authorization')
  })

  test('CORS: a refusal can be read by the page that asked', async () => {
    const response = await api().call('GET', '/workflow/w/status', undefined, { Origin: 'https://app.example' })

    expect(response.status).toBe(401)
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id')
    expect(response.headers.get('Vary')).toContain('Origin')
  })

  test('CORS: other origins are not let in', async () => {
    const response = await api().call('OPTIONS', '/workflow/run', undefined, { Origin: 'https://evil.example' })

    expect(response.headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('CORS: is off unless origins are named', async () => {
    const response = await makeApi().call('GET', '/health', undefined, { Origin: 'https://app.example' })

    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('CORS: a 304 can be read by the page that asked', async () => {
    const { call } = makeApi({ corsOrigins: ['*'], workflows: { catalog: async (catalog) => ({ catalog, workflows: [] }) } })

    const response = await call('GET', '/workflow/catalog', undefined, { Origin: 'https://app.example', 'If-None-Match': '*' })

    expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([304, '*'])
  })
})
