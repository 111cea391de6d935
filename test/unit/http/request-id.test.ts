import { expect, test } from 'vitest'
import { catalogOf, makeApi } from './api.ts'

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

test('X-Request-Id: is in an event stream', async () => {
  const { call } = makeApi({
    workflows: {
      run: async ({ onStarted }) => {
        onStarted?.({ workflowId: 'w', runId: 'r' })
        return Promise.reject(new Error('a bug'))
      },
    },
  })

  const headers = { Accept: 'text/event-stream', 'X-Request-Id': 'mine' }
  const response = await call('POST', '/workflow/run', { workflowName: 'greet', input: null }, headers)

  expect(response.headers.get('Content-Type')).toBe('text/event-stream')
  expect(response.headers.get('X-Request-Id')).toBe('mine')
  await response.text()
})
