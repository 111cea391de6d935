import { expect, test } from 'vitest'
import { catalogOf, makeApi } from './api.ts'

test("X-Request-Id: is a new one when the client's is too long or has other characters (threat 52)", async () => {
  const { call } = makeApi()

  const long = await call('GET', '/health', undefined, { 'X-Request-Id': 'x'.repeat(129) })
  const odd = await call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

  expect(long.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
})

test('X-Request-Id: is in every kind of response, also beside headers of the handler', async () => {
  const { call } = makeApi({
    corsOrigins: ['https://app.example'],
    maxBodyBytes: 100,
    workflows: {
      catalog: catalogOf(),
      start: async () => ({ workflowId: 'w', runId: 'r' }),
      run: () => Promise.reject(new Error('a bug')),
    },
  })
  const greet = { workflowName: 'greet', input: null, taskQueue: 'orders' }

  const responses = {
    preflight: await call('OPTIONS', '/workflow/run', undefined, {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
    }),
    options: await call('OPTIONS', '/workflow/run'),
    head: await call('HEAD', '/health'),
    started: await call('POST', '/workflow/start', greet),
    catalog: await call('GET', '/workflow/catalog'),
    notModified: await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': '*' }),
    invalid: await call('POST', '/workflow/run', '{'),
    unknownRoute: await call('GET', '/nope'),
    wrongMethod: await call('DELETE', '/workflow/run'),
    tooLarge: await call('POST', '/workflow/run', { input: 'x'.repeat(100) }),
    unsupported: await call('POST', '/workflow/run', '{}', { 'Content-Type': 'text/plain' }),
    bug: await call('POST', '/workflow/run', greet),
  }

  const statuses = Object.entries(responses).map(([kind, { status }]) => [kind, status])
  expect(Object.fromEntries(statuses)).toEqual({
    preflight: 204,
    options: 204,
    head: 200,
    started: 200,
    catalog: 200,
    notModified: 304,
    invalid: 400,
    unknownRoute: 404,
    wrongMethod: 405,
    tooLarge: 413,
    unsupported: 415,
    bug: 500,
  })
  for (const { headers } of Object.values(responses)) expect(headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  expect(responses.started.headers.get('Location')).toBe('/workflow/w/result')
  expect(responses.notModified.headers.get('ETag')).toBe(responses.catalog.headers.get('ETag'))
})
