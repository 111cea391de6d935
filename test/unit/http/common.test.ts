import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../src/domain/errors.ts'
import { makeApi, refusal } from './api.ts'

const running = {
  workflowId: 'w',
  runId: 'r',
  workflowName: 'greet',
  catalog: 'orders',
  status: 'running' as const,
  startedAt: new Date('2026-02-03T04:05:06.007Z'),
  completedAt: null,
  historyLength: 3,
}

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

    expect([preflight, notModified, wrongMethod].map((response) => [response.status, response.headers.has('X-Request-Id')])).toEqual([
      [204, true],
      [304, true],
      [405, true],
    ])
  })
})

describe('problem', () => {
  test('problem: is an RFC 9457 body with the stable name and the facts', async () => {
    const { call } = makeApi({
      workflows: {
        result: async () => {
          throw new ServiceError('WorkflowNotCompletedError', 'Workflow w is still running', {
            details: { workflowId: 'w', runId: 'r', workflowStatus: 'running' },
          })
        },
      },
    })

    const response = await call('GET', '/workflow/w/result', undefined, { 'X-Request-Id': 'mine' })

    expect(response.status).toBe(424)
    expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    expect(await response.json()).toEqual({
      type: 'urn:portico:error:workflow-not-completed-error',
      title: 'The workflow has no result yet',
      status: 424,
      detail: 'Workflow w is still running',
      error: 'WorkflowNotCompletedError',
      message: 'Workflow w is still running',
      source: 'gateway',
      requestId: 'mine',
      workflowId: 'w',
      runId: 'r',
      workflowStatus: 'running',
    })
  })

  test('problem: a bug is opaque outside and whole in the log', async () => {
    const bug = new TypeError('secret of 10.0.0.7')
    const { call, events } = makeApi({ workflows: { status: () => Promise.reject(bug) } })

    const response = await call('GET', '/workflow/w/status')

    expect(response.status).toBe(500)
    const body = await response.text()
    expect(body).not.toContain('secret')
    expect(body).not.toContain('TypeError')
    expect(JSON.parse(body)).toMatchObject({ error: 'InternalError', source: 'gateway' })
    expect(events).toMatchObject([{ level: 'error', fields: { status: 500, cause: bug } }])
  })

  test('problem: says who refused, which the engine may say otherwise', async () => {
    const { call } = makeApi({
      workflows: {
        query: () => Promise.reject(new ServiceError('QueryFailedError', 'no')),
        update: () => Promise.reject(new ServiceError('PayloadTooLargeError', 'no', { details: { source: 'engine' } })),
        status: () => Promise.reject(new ServiceError('EngineUnavailableError', 'no')),
      },
    })

    const bodies = await Promise.all(
      [await call('POST', '/workflow/w/query/q'), await call('POST', '/workflow/w/update/u'), await call('GET', '/workflow/w/status')].map(
        (response) => response.json(),
      ),
    )

    expect(bodies.map((body) => body.source)).toEqual(['workflow', 'engine', 'engine'])
  })

  test('Retry-After: is sent where the domain says that trying again is safe, and nowhere else', async () => {
    const { call } = makeApi({
      workflows: {
        status: () => Promise.reject(new ServiceError('EngineUnavailableError', 'no', { details: { retryAfterSeconds: 1 } })),
        result: () => Promise.reject(new ServiceError('EngineUnavailableError', 'no')),
      },
    })

    const safe = await call('GET', '/workflow/w/status')
    const unsafe = await call('GET', '/workflow/w/result')

    expect([safe.headers.get('Retry-After'), unsafe.headers.get('Retry-After')]).toEqual(['1', null])
    expect(await safe.json()).not.toHaveProperty('retryAfterSeconds')
  })
})

describe('routes', () => {
  test('NotFoundError: no such route, a trailing slash, an empty id', async () => {
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
      expect([path, ...(await refusal(await call('GET', path)))]).toEqual([path, 404, 'NotFoundError'])
    }
  })

  test('NotFoundError: a route is matched as it was sent, an encoded letter makes another of it', async () => {
    const { call } = makeApi()

    expect(await refusal(await call('POST', '/workflow/%72un', {}))).toEqual([404, 'NotFoundError'])
  })

  test('MethodNotAllowedError: names the methods of the route', async () => {
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
    expect(await run.json()).toMatchObject({ error: 'MethodNotAllowedError', message: 'This route takes POST, not GET' })
  })

  test('MethodNotAllowedError: a 404 of the domain stays one', async () => {
    const { call } = makeApi({ workflows: { status: () => Promise.reject(new ServiceError('WorkflowNotFoundError', 'no')) } })

    expect(await refusal(await call('GET', '/workflow/w/status'))).toEqual([404, 'WorkflowNotFoundError'])
  })

  test('HEAD: answers as GET does, without the body', async () => {
    const { call } = makeApi({ workflows: { status: async () => running } })

    const found = await call('HEAD', '/workflow/w/status')
    const wrong = await call('HEAD', '/workflow/run')

    expect([found.status, await found.text(), wrong.status]).toEqual([200, '', 405])
  })

  test('OPTIONS: names the methods of a route, and needs no token', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

    const known = await call('OPTIONS', '/workflow/w/stop')
    const unknown = await call('OPTIONS', '/nope')

    expect([known.status, known.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
  })

  test('health: is answered without a token and without the engine', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

    const response = await call('GET', '/health')

    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  test('ready: tells whether the engine is reached, without a token', async () => {
    let reachable = true
    const { call } = makeApi({ auth: { tokens: ['s3cret'] }, workflows: { ready: async () => reachable } })

    const ready = await call('GET', '/ready')
    reachable = false
    const unready = await call('GET', '/ready')

    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok', engine: 'reachable' }])
    expect([unready.status, await unready.json()]).toEqual([503, { status: 'unavailable', engine: 'unreachable' }])
  })
})

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

describe('log', () => {
  test('log: one event a request, with what was noted and without the query string', async () => {
    const { call, events } = makeApi({
      workflows: {
        status: async (_ref, { note }) => {
          note({ rpcs: 1 })
          return running
        },
      },
    })

    await call('GET', '/workflow/w/status?token=s3cret', undefined, { 'X-Request-Id': 'mine' })

    expect(events).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: { requestId: 'mine', method: 'GET', route: '/workflow/:id/status', status: 200, ms: expect.any(Number), rpcs: 1 },
      },
    ])
  })

  test('log: a refusal is told by its name', async () => {
    const { call, events } = makeApi()

    await call('GET', '/nope')

    expect(events).toMatchObject([{ level: 'info', fields: { route: null, status: 404, error: 'NotFoundError' } }])
  })

  test('log: an unforeseen answer of the engine is told whole', async () => {
    const cause = new Error('7 PERMISSION_DENIED: Request unauthorized.')
    const { call, events } = makeApi({ workflows: { status: () => Promise.reject(new ServiceError('EngineError', 'no', { cause })) } })

    const response = await call('GET', '/workflow/w/status')

    expect(await response.text()).not.toContain('PERMISSION_DENIED')
    expect(events).toMatchObject([{ level: 'error', fields: { status: 502, error: 'EngineError', cause } }])
  })

  test('log: a workflow whose task keeps failing is told with its failure, a bad request without what it quotes', async () => {
    const cause = new Error('boom')
    const { call, events } = makeApi({
      workflows: { query: () => Promise.reject(new ServiceError('WorkflowNotReadyError', 'no', { cause })) },
    })

    await call('POST', '/workflow/w/query/q')
    await call('POST', '/workflow/w/query/q', '{"payload":s3cret}')

    expect(events.map((event) => event.fields.cause)).toEqual([cause, undefined])
  })

  test('log: probes are told only to those who look closely', async () => {
    const { call, events } = makeApi()

    await call('GET', '/health')

    expect(events.map((event) => event.level)).toEqual(['debug'])
  })
})
