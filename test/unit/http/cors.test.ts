import { expect, test } from 'vitest'
import { catalogOf, makeApi } from './api.ts'

const cors = () => makeApi({ corsOrigins: ['https://app.example'], auth: { tokens: ['s3cret'] } })

const preflight = (path: string, Origin: string, headers: Record<string, string>) =>
  cors().call('OPTIONS', path, undefined, { Origin, ...headers })

test('CORS: a preflight needs no token', async () => {
  const response = await preflight('/workflow/w/stop', 'https://app.example', {
    'Access-Control-Request-Method': 'PATCH',
  })

  expect(response.status).toBe(204)
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
  expect(response.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
  expect(response.headers.get('Access-Control-Max-Age')).toBe('600')
  expect(response.headers.get('Vary')).toBe('Origin')
})

test('CORS: a preflight allows all requested headers', async () => {
  const response = await preflight('/workflow/run', 'https://app.example', {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,traceparent,x-custom',
  })

  expect(response.headers.get('Access-Control-Allow-Headers')).toBe('authorization,content-type,traceparent,x-custom')
})

test('CORS: a preflight from another origin allows nothing', async () => {
  const response = await preflight('/workflow/run', 'https://evil.example', {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'x-custom',
  })

  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('CORS: OPTIONS without a preflight lists the methods of the route, and is 404 for an unknown route', async () => {
  const { call, events } = cors()
  const known = await call('OPTIONS', '/workflow/w/stop', undefined, { Origin: 'https://app.example' })
  const unknown = await call('OPTIONS', '/nope', undefined, { Origin: 'https://app.example' })

  expect([known.status, known.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
  expect(known.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
  expect(known.headers.get('Content-Type')).toBe(null)
  expect(events.map(({ fields }) => fields.error)).toEqual([undefined, 'NotFoundError'])
})

test('CORS: exposes only headers that the service sends', async () => {
  const response = await cors().call('GET', '/health', undefined, { Origin: 'https://app.example' })

  expect(response.headers.get('Access-Control-Expose-Headers')).toBe(
    'Location,Deprecation,Sunset,Link,ETag,Retry-After,Preference-Applied,X-Request-Id,Portico-Error-Source,Portico-Workflow-Id,Portico-Run-Id,Portico-Started,Portico-Output-Warning,Portico-Warning,Idempotency-Replayed,X-Workflow-Stream-Tail-Index,X-Workflow-Run-Id',
  )
})

test('CORS: an error response can be read by the page', async () => {
  const response = await cors().call('GET', '/workflow/w/status', undefined, { Origin: 'https://app.example' })

  expect(response.status).toBe(401)
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
  expect(response.headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id')
  expect(response.headers.get('Vary')).toContain('Origin')
})

test('CORS: other origins are not allowed', async () => {
  const response = await cors().call('OPTIONS', '/workflow/run', undefined, { Origin: 'https://evil.example' })

  expect(response.headers.has('Access-Control-Allow-Origin')).toBe(false)
})

test('CORS: is off without configured origins', async () => {
  const response = await makeApi().call('GET', '/health', undefined, { Origin: 'https://app.example' })

  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('CORS: a 304 can be read by the page', async () => {
  const { call } = makeApi({
    corsOrigins: ['*'],
    workflows: { catalog: catalogOf() },
  })

  const response = await call('GET', '/workflow/catalog', undefined, {
    Origin: 'https://app.example',
    'If-None-Match': '*',
  })

  expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([304, '*'])
})
