import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { VERSION } from '../../../src/version.ts'
import { makeApi } from '../../support/api.ts'
import { readiness } from '../../support/readiness.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, operatorApi, type Serve } from './api-fixture.ts'

/** What holds for every request. */
export function common(api: () => ApiFixture, serve: Serve): void {
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
      const { engine, features } = answer.body
      return engine.version !== null && features.pause !== null && features.repair !== null && answer
    })

    expect([status, Object.keys(body)]).toEqual([
      200,
      ['version', 'runtime', 'transport', 'engine', 'features', 'caller'],
    ])
    expect(body.version).toBe(VERSION)
    expect(body.runtime).toMatch(/^(?:node|bun|deno|workerd)$/)
    expect(body.transport).toBe(hasGap('slashes') ? 'http' : 'grpc')
    expect(body.engine).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), uiUrl: null })
    expect(body.features).toEqual({
      slashInIds: !hasGap('slashes'),
      updateWithStart: !hasGap('update-with-start'),
      asyncUpdates: !hasGap('async-updates'),
      pause: true,
      repair: true,
      schedules: true,
      standaloneActivities: true,
      codec: false,
      docs: false,
      console: false,
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
}
