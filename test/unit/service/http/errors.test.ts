import { expect, test } from 'vitest'
import { makeApi, rejecting } from './api.ts'

test('problem: has a source, which an error can override', async () => {
  const { call } = makeApi({
    workflows: {
      query: rejecting('QueryFailedError'),
      update: rejecting('PayloadTooLargeError', 'no', { source: 'engine' }),
      status: rejecting('EngineUnavailableError'),
    },
  })

  const sourceOf = async (method: string, path: string) => (await (await call(method, path)).json()).source

  expect(await sourceOf('POST', '/workflow/w/query/q')).toBe('workflow')
  expect(await sourceOf('POST', '/workflow/w/update/u')).toBe('engine')
  expect(await sourceOf('GET', '/workflow/w/status')).toBe('engine')
})

test('NotFoundError: leads from the root to the document, from cancel to stop, and nowhere else', async () => {
  const messageOf = async (api: ReturnType<typeof makeApi>, method: string, path: string) =>
    (await (await api.call(method, path)).json()).message
  const plain = makeApi()
  const withPage = makeApi({ readDocsFile: async () => null })

  expect(await messageOf(plain, 'GET', '/')).toBe('Route / not found. GET /openapi.json describes the API')
  expect(await messageOf(withPage, 'GET', '/')).toMatch(/ and GET \/docs shows it$/)
  expect(await messageOf(plain, 'POST', '/workflow/w/cancel')).toMatch(/send PATCH \/workflow\/:id\/stop$/)
  expect(await messageOf(plain, 'GET', '/workflow/w/nothing')).toBe('Route /workflow/w/nothing not found')
})

test.each([
  ['GET', '/workflow/asks-1/staus', '/workflow/asks-1/status'],
  ['GET', '/workflows/asks-1/status', '/workflow/asks-1/status'],
  ['POST', '/workflow/Run', '/workflow/run'],
  ['GET', '/workflow/asks-1/trace_log', '/workflow/asks-1/trace-log'],
  ['GET', '/workflow/%C3%A4/runs/r/resutl', '/workflow/%C3%A4/runs/r/result'],
  ['GET', '/opnapi.json', '/openapi.json'],
])('NotFoundError: %s %s asks whether %s was meant', async (method, path, meant) => {
  const { message } = await (await makeApi().call(method, path)).json()

  expect(message).toBe(`Route ${path} not found. Did you mean ${meant}?`)
})

test.each([
  ['GET', '/workflow/runs?pagesize=1', undefined, '/pagesize is not a known field; did you mean pageSize?'],
  ['GET', '/workflow/w/history?wiat=1s', undefined, '/wiat is not a known field; did you mean wait?'],
  [
    'POST',
    '/workflow/start',
    { workflowNmae: 'a', workflowName: 'a', other: 1 },
    '/workflowNmae is not a known field; did you mean workflowName?; /other is not a known field',
  ],
  [
    'POST',
    '/workflow/start',
    { workflowName: 'a', retry: { maximumAttemps: 1 } },
    '/retry/maximumAttemps is not a known field; did you mean maximumAttempts?',
  ],
])('ValidationError: %s %s names the nearest field', async (method, path, body, message) => {
  expect((await (await makeApi().call(method, path, body)).json()).message).toContain(message)
})

test('ValidationError: names the parameter that another API calls differently', async () => {
  const { call } = makeApi()

  const message = async (path: string) => (await (await call('GET', path)).json()).message

  expect(await message('/workflow/runs?limit=5')).toBe('/limit is not a known field; use pageSize instead of limit')
  expect(await message('/workflow/runs?size=5')).toBe('/size is not a known field')
})

test('Portico-Error-Source: is on every error, also one without a body or a route, and on nothing else', async () => {
  const { call } = makeApi({
    auth: { tokens: ['s3cret'] },
    workflows: {
      query: rejecting('QueryFailedError'),
      ready: async () => 'reachable',
    },
  })
  const sourceOf = async (method: string, path: string, headers?: Record<string, string>) => {
    const response = await call(method, path, undefined, headers)
    return [response.status, response.headers.get('Portico-Error-Source')]
  }
  const token = { Authorization: 'Basic s3cret' }

  expect(await sourceOf('POST', '/workflow/w/query/q', token)).toEqual([422, 'workflow'])
  expect(await sourceOf('POST', '/workflow/w/query/q')).toEqual([401, 'gateway'])
  expect(await sourceOf('HEAD', '/nothing', token)).toEqual([404, 'gateway'])
  expect(await sourceOf('PUT', '/workflow/run', token)).toEqual([405, 'gateway'])
  expect(await sourceOf('GET', '/ready')).toEqual([200, null])
})

test('Retry-After: is sent only when the error says that a retry is safe', async () => {
  const { call } = makeApi({
    workflows: {
      status: rejecting('EngineUnavailableError', 'no', { retryAfterSeconds: 1 }),
      result: rejecting('EngineUnavailableError'),
    },
  })

  const safe = await call('GET', '/workflow/w/status')
  const unsafe = await call('GET', '/workflow/w/result')

  expect([safe.headers.get('Retry-After'), unsafe.headers.get('Retry-After')]).toEqual(['1', null])
  expect(await safe.json()).not.toHaveProperty('retryAfterSeconds')
})
