import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { VERSION } from '../../../src/version.ts'
import { type Answer, makeApi } from '../../support/api.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, ORIGIN, OTHER_TOKEN, type Serve, TOKEN } from './api-fixture.ts'

/** What holds for every request. */
export function common(api: () => ApiFixture, serve: Serve): void {
  /** The status of a request for a missing workflow with a valid token (404) and without one (401). */
  async function knock(authorization: string): Promise<number> {
    const { status } = await makeApi({ url: api().restrictedService.url }).call(
      'GET',
      `/workflow/${anId()}/status`,
      undefined,
      { Authorization: authorization },
    )
    return status
  }

  rule('health.answers-200', async () => {
    const { serviceWithoutEngine, service } = api()

    const answers = await Promise.all([service.call('GET', '/health'), serviceWithoutEngine.call('GET', '/health')])

    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { status: 'ok' }],
      [200, { status: 'ok' }],
    ])
  })

  test('ready: reports whether the engine is reachable', async () => {
    const { serviceWithoutEngine, service } = api()

    const ready = await service.call('GET', '/ready')
    const unready = await serviceWithoutEngine.call('GET', '/ready')

    expect([ready.status, ready.body.engine]).toEqual([200, 'reachable'])
    expect([unready.status, unready.body.engine]).toEqual([503, 'unreachable'])
  })

  test('capabilities: lists the parts of the deployment and the unsupported features', async () => {
    const { service, hasGap } = api()

    const { status, body } = await service.call('GET', '/capabilities')

    expect([status, Object.keys(body)]).toEqual([200, ['version', 'runtime', 'transport', 'engine', 'features']])
    expect(body.version).toBe(VERSION)
    expect(body.runtime).toMatch(/^(?:node|bun|deno|workerd)$/)
    expect(body.transport).toBe(hasGap('slashes') ? 'http' : 'grpc')
    expect(body.engine).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), uiUrl: null })
    expect(body.features).toEqual({
      slashInIds: !hasGap('slashes'),
      updateWithStart: !hasGap('update-with-start'),
      asyncUpdates: !hasGap('async-updates'),
      pause: true,
      codec: false,
      docs: false,
      traceRemote: false,
      traceKvstore: false,
      traceLocal: false,
    })
  })

  test('capabilities: needs a token, and works while the engine is unreachable', async () => {
    const { serviceWithoutEngine, restrictedService } = api()

    const alone = await serviceWithoutEngine.call('GET', '/capabilities')
    const stranger = await makeApi({ url: restrictedService.url }).call('GET', '/capabilities')

    expect([alone.status, alone.body.engine]).toEqual([200, { version: null, uiUrl: null }])
    expect(stranger.status).toBe(401)
  })

  rule('auth.basic-with-the-shared-token', async () => {
    expect(await knock(`Basic ${TOKEN}`)).toBe(404)
  })

  rule('auth.open-locally-without-a-token', async () => {
    const { service } = api()

    const run = await service.run('echo', 1)
    const start = await service.start('echo', 1)

    expect([run.status, start.status]).toEqual([200, 200])
  })

  test('auth: each listed token, as Bearer and as the password of curl -u', async () => {
    const presented = [
      `Basic ${OTHER_TOKEN}`,
      `Bearer ${TOKEN}`,
      `bearer ${OTHER_TOKEN}`,
      `BASIC ${btoa(`anybody:${TOKEN}`)}`,
      `Basic ${btoa(`:${OTHER_TOKEN}`)}`,
    ]

    expect(await Promise.all(presented.map(knock))).toEqual(presented.map(() => 404))
  })

  test('auth: a missing, empty, wrong, truncated or extended token, the whole list and another scheme are rejected', async () => {
    const presented = [
      '',
      'Basic',
      'Basic ',
      'Basic wrong',
      `Basic ${TOKEN.slice(0, -1)}`,
      `Basic ${TOKEN}x`,
      `Basic ${TOKEN}, ,${OTHER_TOKEN}`,
      `Basic ${btoa(`${TOKEN}:anybody`)}`,
      `Basic ${btoa(':')}`,
      TOKEN,
      `Digest ${TOKEN}`,
    ]

    expect(await Promise.all(presented.map(knock))).toEqual(presented.map(() => 401))
  })

  test('auth: a 401 names the expected scheme', async () => {
    const { status, body, headers } = await makeApi({ url: api().restrictedService.url }).call(
      'POST',
      '/workflow/run',
      {},
    )

    expect([status, body.error, body.source]).toEqual([401, 'UnauthorizedError', 'gateway'])
    expect(headers.get('WWW-Authenticate')).toMatch(/^Basic realm="/)
  })

  test('auth: every other route requires a token, even one that does not exist', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })
    const run = `/workflow/${anId()}/runs/00000000-0000-4000-8000-000000000000`
    const routes: [string, string][] = [
      ['POST', '/workflow/run'],
      ['POST', '/workflow/start'],
      ['POST', '/workflow/update-with-start/any'],
      ['POST', '/workflow/validate'],
      ['GET', '/workflow/catalog'],
      ['GET', '/workflow/catalog/any'],
      ['GET', `${run}/status`],
      ['GET', `${run}/result`],
      ['HEAD', `${run}/result`],
      ['GET', `${run}/trace-log`],
      ['POST', `${run}/signal/any`],
      ['POST', `${run}/query/any`],
      ['POST', `${run}/update/any`],
      ['PATCH', `${run}/stop`],
      ['POST', `${run}/terminate`],
      ['GET', '/'],
      ['GET', '/health/'],
      ['GET', '//health'],
      ['GET', '/nope?/health'],
    ]

    const answers = await Promise.all(routes.map(([method, path]) => call(method, path)))

    expect(answers.map(({ status }) => status)).toEqual(routes.map(() => 401))
  })

  test('auth: health, readiness and OPTIONS need no token', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })

    const answers = [await call('GET', '/health'), await call('GET', '/ready'), await call('OPTIONS', '/workflow/run')]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 204])
  })

  test('routes: an unknown route, a trailing slash and an empty id are 404', async () => {
    const { service } = api()
    const paths = [
      '/',
      '/nope',
      '/workflow',
      '/health/',
      '/workflow/run/',
      '/workflow//status',
      '/workflow/w/status/',
      '/workflow/w/signal/',
    ]

    const answers = await Promise.all(paths.map((path) => service.call('GET', path)))

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(paths.map(() => [404, 'NotFoundError']))
  })

  test('routes: a 405 lists the allowed methods', async () => {
    const { service } = api()

    const answers = [
      await service.call('GET', '/workflow/run'),
      await service.call('DELETE', '/workflow/w/status'),
      await service.call('POST', '/workflow/w/stop'),
    ]

    expect(answers.map(({ status, body, headers }) => [status, body.error, headers.get('Allow')])).toEqual([
      [405, 'MethodNotAllowedError', 'POST'],
      [405, 'MethodNotAllowedError', 'GET, HEAD'],
      [405, 'MethodNotAllowedError', 'PATCH'],
    ])
  })

  test('routes: HEAD is GET without the body', async () => {
    const { service } = api()
    const { body } = await service.run('nothing')

    const found = await service.call('HEAD', `/workflow/${body.workflowId}/status`)
    const notFound = await service.call('HEAD', `/workflow/${anId()}/status`)

    expect([found.status, found.text, notFound.status, notFound.text]).toEqual([200, '', 404, ''])
  })

  test('routes: OPTIONS names the methods', async () => {
    const { service } = api()

    const stop = await service.call('OPTIONS', '/workflow/w/stop')
    const status = await service.call('OPTIONS', '/workflow/w/runs/00000000-0000-4000-8000-000000000000/status')

    expect([stop, status].map(({ status, headers }) => [status, headers.get('Allow')])).toEqual([
      [204, 'PATCH'],
      [204, 'GET, HEAD'],
    ])
  })

  test('SERVICE_BASE_PATH: every route is below it, health too, and so is each Location', async () => {
    const { address, httpUrl } = inject('engine')
    const env = {
      PATH: process.env.PATH ?? '',
      SERVICE_CATALOG_ID: api().catalog,
      SERVICE_PORT: '0',
      SERVICE_BASE_PATH: '/portico',
    }
    const server = await serve({ ...env, ENGINE_ADDRESS: address, ENGINE_HTTP_URL: httpUrl ?? '' })
    const { call } = makeApi({ url: new URL(server.url).origin })

    // A busy engine may not answer the first probe in time.
    await until('it is ready', async () => (await call('GET', '/portico/ready')).status === 200)

    const health = [
      await call('GET', '/portico/health'),
      await call('GET', '/portico/ready'),
      await call('GET', '/health'),
    ]
    const run = await call('POST', '/portico/workflow/run', { workflowName: 'echo', input: 1 })
    const start = await call('POST', '/portico/workflow/start', { workflowName: 'neverEnds', input: null })
    const location = start.headers.get('Location')
    const result = await call('GET', location ?? '')
    await call('POST', `/portico/workflow/${start.body.workflowId}/terminate`)
    await server.stop()

    expect(health.map(({ status }) => status)).toEqual([200, 200, 404])
    expect([run.status, run.body.output]).toEqual([200, 1])
    expect(location).toBe(`/portico/workflow/${start.body.workflowId}/result`)
    expect(result.body.error).toBe('WorkflowNotCompletedError')
  })

  test('X-Request-Id: is the caller’s own when it is a plain one, on refusals too', async () => {
    const { service } = api()

    const own = await service.call('GET', `/workflow/${anId()}/status`, undefined, {
      'X-Request-Id': 'order_17.retry-2',
    })
    const odd = await service.call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

    expect([own.headers.get('X-Request-Id'), own.body.requestId]).toEqual(['order_17.retry-2', 'order_17.retry-2'])
    expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  })

  test('CORS: a preflight from an allowed origin needs no token', async () => {
    const preflight = (origin: string) =>
      makeApi({ url: api().restrictedService.url }).call('OPTIONS', '/workflow/w/stop', undefined, {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
      })

    const known = await preflight(ORIGIN)
    const other = await preflight('https://evil.example.com')

    expect([known.status, known.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN])
    expect(known.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(other.headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('CORS: a preflight allows the headers it asks for; other OPTIONS name the methods, and 404 stays 404', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })
    const asked = {
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'traceparent,x-custom',
    }

    const preflight = await call('OPTIONS', '/workflow/run', undefined, { Origin: ORIGIN, ...asked })
    const other = await call('OPTIONS', '/workflow/w/stop', undefined, { Origin: ORIGIN })
    const unknown = await call('OPTIONS', '/nope', undefined, { Origin: ORIGIN })

    expect([preflight.status, preflight.headers.get('Access-Control-Allow-Headers')]).toEqual([
      204,
      'traceparent,x-custom',
    ])
    expect([other.status, other.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
  })

  test('Origin: a page of another host may not change anything, even if the browser sends only Origin', async () => {
    const { service, restrictedService } = api()
    const path = `/workflow/${anId()}/terminate`
    const { host } = new URL(service.url)
    const from = (origin: string, site?: string) =>
      service.call('POST', path, undefined, { Origin: origin, ...(site !== undefined && { 'Sec-Fetch-Site': site }) })

    const foreign = [
      await from('http://evil.example'),
      await from('null'),
      await from('http://evil.example', 'cross-site'),
    ]
    const own = [await from(`http://${host}`), await from('http://any.example', 'same-origin')]
    const allowed = await restrictedService.call('POST', path, undefined, { Origin: ORIGIN })

    expect(foreign.map(({ status, body }) => [status, body.error])).toEqual(foreign.map(() => [403, 'ForbiddenError']))
    expect([...own, allowed].map(({ status }) => status)).toEqual([404, 404, 404])
  })

  test('Host: without a token only names of this machine are accepted, which prevents DNS rebinding', async () => {
    const { service, restrictedService, hasGap } = api()

    expect(await statusFor(service.url, 'localhost:1234')).toBe(200)
    expect(await statusFor(service.url, 'evil.example')).toBe(hasGap('loopback') ? 200 : 403)
    expect(await statusFor(restrictedService.url, 'evil.example')).toBe(200)
  })

  test('Content-Type: a body with another type than JSON is rejected; any JSON type is accepted', async () => {
    const { service } = api()
    const sent = (type: string | null, more: Record<string, string> = {}) =>
      service.call('POST', '/workflow/run', JSON.stringify({ workflowName: 'echo', input: 1 }), {
        'Content-Type': type ?? '',
        ...more,
      })

    const answers: Answer[] = []
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
      'application/jsonp',
    ]) {
      answers.push(await sent(type))
    }
    const gzip = await sent('application/json', { 'Content-Encoding': 'gzip' })
    const json = await Promise.all([sent('application/json; charset=utf-8'), sent('application/merge-patch+json')])

    expect([...answers, gzip].map(({ status, body }) => [status, body.error])).toEqual(
      Array.from({ length: 6 }, () => [415, 'UnsupportedMediaTypeError']),
    )
    expect(json.map(({ status }) => status)).toEqual([200, 200])
  })
}

/** Of `/health`. fetch has a will of its own about Host. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const sent = request(`${url}/health`, { headers: { Host: host }, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
