import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { VERSION } from '../../../src/version.ts'
import { makeApi } from '../../support/api.ts'
import { readiness } from '../../support/readiness.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, ORIGIN, OTHER_TOKEN, operatorApi, type Serve, TOKEN } from './api-fixture.ts'

/** What holds for every request. */
export function common(api: () => ApiFixture, serve: Serve): void {
  /** The status of a request for a missing workflow with a valid token (404) and without one (401). */
  async function knock(authorization: string): Promise<number> {
    const { status } = await makeApi({ url: api().restrictedService.url }).get(`${anId()}/status`, {
      Authorization: authorization,
    })
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

    const ready = await readiness(service)
    const unready = await serviceWithoutEngine.call('GET', '/ready')

    expect([ready.status, ready.body.engine]).toEqual([200, 'reachable'])
    expect([unready.status, unready.body.engine]).toEqual([503, 'unreachable'])
  })

  test('capabilities: lists the parts of the deployment and the unsupported features', async () => {
    const { service, hasGap } = api()

    // A busy engine may not answer in the second that the service waits for it.
    const { status, body } = await until('the engine answers', async () => {
      const answer = await service.call('GET', '/capabilities')
      return answer.body.engine.version !== null && answer.body.features.pause !== null && answer
    })

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
      mcp: true,
      tokens: false,
      traceRemote: false,
      traceKvstore: false,
      links: false,
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
    const { anonymousService } = api()

    const run = await anonymousService.run('echo', 1)
    const start = await anonymousService.start('echo', 1)

    expect([run.status, start.status]).toEqual([200, 200])
  })

  test('auth: tokens in each form, and values that are not one', async () => {
    const curl = [`anybody:${TOKEN}`, `:${OTHER_TOKEN}`].map((user) => `BASIC ${btoa(user)}`)
    const valid = [`Basic ${OTHER_TOKEN}`, `Bearer ${TOKEN}`, `bearer ${OTHER_TOKEN}`, ...curl]
    const wrong = ['', 'wrong', TOKEN.slice(0, -1), `${TOKEN}x`, `${TOKEN}, ,${OTHER_TOKEN}`]
    const wrongUsers = [`${TOKEN}:anybody`, ':'].map((user) => btoa(user))
    const invalid = [
      '',
      'Basic',
      TOKEN,
      `Digest ${TOKEN}`,
      ...[...wrong, ...wrongUsers].map((token) => `Basic ${token}`),
    ]

    expect(await Promise.all(valid.map(knock))).toEqual(valid.map(() => 404))
    expect(await Promise.all(invalid.map(knock))).toEqual(invalid.map(() => 401))
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
    expect(answers[0]?.body).toMatchObject({ error: 'UnauthorizedError', source: 'gateway' })
    expect(answers[0]?.headers.get('WWW-Authenticate')).toMatch(/^Basic realm="/)
  })

  test('auth: health, readiness and OPTIONS need no token', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })

    const ready = await readiness({ call })
    const answers = [await call('GET', '/health'), ready, await call('OPTIONS', '/workflow/run')]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 204])
  })

  test('routes: a missing execution is 404 on each of them', async () => {
    const workflowId = anId()
    const routes = [
      ['GET', 'trace-log'],
      ['POST', 'signal/add'],
      ['POST', 'query/state'],
      ['POST', 'update/set'],
      ['PATCH', 'stop'],
      ['POST', 'terminate'],
    ] as const

    for (const [method, path] of routes) {
      const { status, body } = await api().service.call(method, `/workflow/${workflowId}/${path}`)
      expect([path, status, body.error, body.workflowId]).toEqual([path, 404, 'WorkflowNotFoundError', workflowId])
    }
  })

  test('routes: an unknown route is a 404; a 405 and OPTIONS list the allowed methods', async () => {
    const { call } = api().service
    const unknown = ['/', '/nope', '/workflow', '/health/', '/workflow//status', '/workflow/w/status/']
    const notFound = await Promise.all(unknown.map((path) => call('GET', path)))
    const answers = [
      await call('GET', '/workflow/run'),
      await call('POST', '/workflow/w/stop'),
      await call('DELETE', '/workflow/w/status'),
      await call('OPTIONS', '/workflow/w/stop'),
      await call('OPTIONS', '/workflow/w/runs/00000000-0000-4000-8000-000000000000/status'),
    ]

    expect(notFound.map(({ status, body }) => [status, body.error])).toEqual(unknown.map(() => [404, 'NotFoundError']))
    expect(answers.map(({ status, body, headers }) => [status, body?.error, headers.get('Allow')])).toEqual([
      [405, 'MethodNotAllowedError', 'POST'],
      [405, 'MethodNotAllowedError', 'PATCH'],
      [405, 'MethodNotAllowedError', 'GET, HEAD'],
      [204, undefined, 'PATCH'],
      [204, undefined, 'GET, HEAD'],
    ])
  })

  test('Content-Type: a body of another type than JSON and a compressed one are rejected; any JSON type is accepted', async () => {
    const sent = (type: string, more: Record<string, string> = {}) =>
      api().service.post('run', '{"workflowName":"echo","input":1}', { 'Content-Type': type, ...more })
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '', 'application/jsonp']

    const rejected = await Promise.all([
      ...types.map((type) => sent(type)),
      sent('application/json', { 'Content-Encoding': 'gzip' }),
    ])
    const json = await Promise.all([sent('application/json; charset=utf-8'), sent('application/merge-patch+json')])

    expect(rejected.map(({ status, body }) => [status, body.error])).toEqual(
      rejected.map(() => [415, 'UnsupportedMediaTypeError']),
    )
    expect(json.map(({ status }) => status)).toEqual([200, 200])
  })

  test('routes: HEAD is GET without the body', async () => {
    const { service } = api()
    const { body } = await service.run('nothing')

    const found = await service.call('HEAD', `/workflow/${body.workflowId}/status`)
    const notFound = await service.call('HEAD', `/workflow/${anId()}/status`)

    expect([found.status, found.text, notFound.status, notFound.text]).toEqual([200, '', 404, ''])
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
    const { call } = operatorApi({ url: new URL(server.url).origin })

    const ready = await readiness({ call }, '/portico/ready')
    const health = [await call('GET', '/portico/health'), ready, await call('GET', '/health')]
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

  test('X-Request-Id: is the caller’s own when it is a plain one, on rejections too', async () => {
    const { service } = api()

    const own = await service.get(`${anId()}/status`, { 'X-Request-Id': 'order_17.retry-2' })
    const odd = await service.call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

    expect([own.headers.get('X-Request-Id'), own.body.requestId]).toEqual(['order_17.retry-2', 'order_17.retry-2'])
    expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  })

  test('CORS: a preflight needs no token, and allows the headers that it names to known origins alone', async () => {
    const preflight = (origin: string) =>
      makeApi({ url: api().restrictedService.url }).call('OPTIONS', '/workflow/w/stop', undefined, {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'traceparent,x-custom',
      })

    const known = await preflight(ORIGIN)
    const other = await preflight('https://evil.example.com')

    expect([known.status, known.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN])
    expect(known.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(known.headers.get('Access-Control-Allow-Headers')).toBe('traceparent,x-custom')
    expect(other.headers.has('Access-Control-Allow-Origin')).toBe(false)
  })

  test('CORS: other OPTIONS name the methods, and 404 stays 404', async () => {
    const { call } = makeApi({ url: api().restrictedService.url })

    const known = await call('OPTIONS', '/workflow/w/stop', undefined, { Origin: ORIGIN })
    const unknown = await call('OPTIONS', '/nope', undefined, { Origin: ORIGIN })

    expect([known.status, known.headers.get('Allow'), unknown.status]).toEqual([204, 'PATCH', 404])
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
    const { anonymousService, restrictedService, hasGap } = api()

    expect(await statusFor(anonymousService.url, 'localhost:1234')).toBe(200)
    expect(await statusFor(anonymousService.url, 'evil.example')).toBe(hasGap('loopback') ? 200 : 403)
    expect(await statusFor(restrictedService.url, 'evil.example')).toBe(200)
  })
}

/** Of `/health`. fetch has a will of its own about Host. */
async function statusFor(url: string, host: string): Promise<number | undefined> {
  const sent = request(`${url}/health`, { headers: { Host: host }, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}
