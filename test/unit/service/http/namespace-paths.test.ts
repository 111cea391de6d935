import { expect, test } from 'vitest'
import { splitNamespace } from '../../../../src/service/http/path.ts'
import { sha256 } from '../../../../src/shared/lib/digest.ts'
import { makeApi, rejecting, rejection, running } from './api.ts'
import { bearer, tokenPolicy } from './policies.ts'

const AUTHORIZATION = { Authorization: 'Bearer s3cret' }

/** The verbs of a namespace, whose runs have its name as their id. */
function verbsOf(namespace: string) {
  return {
    status: async () => ({ ...running, workflowId: namespace }),
    explain: async () => ({
      ...{ workflowId: 'w', runId: 'r', verdict: 'paused' as const, since: null, run: running },
      reasons: [
        {
          ...{ kind: 'paused' as const, since: null, advice: 'unpause the run' },
          action: { method: 'POST' as const, path: '/workflow/w/runs/r/unpause', body: null },
        },
      ],
    }),
    start: async () => ({ workflowId: 'a/b', runId: 'r' }),
    run: rejecting('WorkflowExecutionTimedOutError', 'later', { workflowId: 'w' }),
    ready: async () => 'reachable' as const,
    capabilities: async () => ({}) as never,
    catalog: async () => ({ catalog: namespace, inputsChecked: true, workflows: [], activities: [] }),
  }
}

const namespaces = { acme: verbsOf('acme'), 'a/b c': verbsOf('a/b c') }

const { call, events } = makeApi({ workflows: verbsOf('default'), namespaces, readMetrics: () => '' })

/** Status, headers and body, without the request id, and without what the client has sent itself. */
async function bytesOf(response: Response, sent = ''): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id')
  const text = (await response.text()).replace(/"requestId":"[^"]+"/, '')
  return [response.status, headers, sent === '' ? text : text.replaceAll(sent, '')]
}

test('namespaces: they are below the base path, which a framework may have removed', async () => {
  const mount = { basePath: '/portico', mayBeStripped: true }
  const api = makeApi({ workflows: verbsOf('default'), namespaces, mount })
  const body = { workflowName: 'echo', input: 1 }

  const prefixes = ['/portico/namespaces/acme', '/namespaces/acme']
  const locations = await Promise.all(
    prefixes.map(async (path) => (await api.call('POST', `${path}/workflow/start`, body)).headers.get('Location')),
  )
  const explained = await Promise.all(
    prefixes.map(async (path) => (await api.call('GET', `${path}/workflow/w/explain`)).json()),
  )

  expect(locations).toEqual(Array.from({ length: 2 }, () => '/portico/namespaces/acme/workflow/a%2Fb/result'))
  expect(explained.map(({ reasons }) => reasons[0].action.path)).toEqual(
    prefixes.map(() => '/portico/namespaces/acme/workflow/w/runs/r/unpause'),
  )
})

test('namespaces: every name that is not one gets the same response', async () => {
  const unknown = ['none', 'Acme', 'acme%20', '%zz', '%FF', 'a', '__proto__', 'constructor']
  const routes = ['/workflow/w/status', '/ready', '/health', '/no-such-route', '', '/']

  const responses = await Promise.all(
    unknown.flatMap((name) => routes.map(async (route) => bytesOf(await call('GET', `/namespaces/${name}${route}`)))),
  )

  expect(responses[0]).toMatchObject([404, expect.anything(), expect.stringContaining('"NotFoundError"')])
  expect(new Set(responses.map((one) => JSON.stringify(one))).size).toBe(1)
})

test('namespaces: a request without a credential does not show whether one exists (threat 35)', async () => {
  const api = makeApi({ workflows: verbsOf('default'), namespaces, auth: { tokens: ['s3cret'] }, corsOrigins: ['*'] })
  const preflight = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' }
  const requests: [string, string, Record<string, string>?][] = [
    ['GET', '/ready'],
    ['GET', '/health'],
    ['GET', '/workflow/w/status'],
    ['POST', '/workflow/run'],
    ['DELETE', '/workflow/run'],
    ['GET', '/no-such-route'],
    ['OPTIONS', '/workflow/run'],
    ['OPTIONS', '/no-such-route'],
    ['OPTIONS', '/workflow/run', preflight],
  ]

  const statuses = await Promise.all(
    requests.map(async ([method, route, headers]) => {
      const of = async (name: string) =>
        bytesOf(await api.call(method, `/namespaces/${name}${route}`, undefined, headers), `/namespaces/${name}`)
      const [known, unknown] = await Promise.all([of('acme'), of('none')])
      expect(unknown).toEqual(known)
      return Array.isArray(known) ? known[0] : known
    }),
  )

  expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 204, 404, 204])
})

test('namespaces: a caller cannot tell one that its rules do not name from one that does not exist (threat 35)', async () => {
  const hash = await sha256('t0ken')
  const rule = { name: 'tenant', who: { token: [hash] }, can: ['read'], namespaces: ['a/b c'] }
  const api = makeApi({
    workflows: verbsOf('default'),
    namespaces,
    auth: { policy: { issuers: {}, rules: [rule] } },
    audit: 'effects',
  })
  const headers = { Authorization: 'Bearer t0ken' }
  const requests: [string, string][] = [
    ...[
      '/ready',
      '/capabilities',
      '/openapi.json',
      '/workflow/catalog',
      '/workflow/w/status',
      '/health',
      '/x',
      '/',
    ].map((route): [string, string] => ['GET', route]),
    ['POST', '/workflow/run'],
    ['HEAD', '/workflow/w/status'],
    ['DELETE', '/workflow/w/status'],
    ['PATCH', '/workflow/%zz/stop'],
  ]

  for (const [method, route] of requests) {
    const [notGranted, unknown, own] = await Promise.all(
      ['acme', 'none', 'default'].map(async (name) =>
        bytesOf(await api.call(method, `/namespaces/${name}${route}`, undefined, headers)),
      ),
    )
    expect(notGranted).toEqual([404, expect.anything(), expect.any(String)])
    expect([unknown, own]).toEqual([notGranted, notGranted])
  }
  const status = async (path: string) => rejection(await api.call('GET', path, undefined, headers))
  expect(await status('/namespaces/a%2Fb%20c/workflow/w/status')).toEqual([200, undefined])
  expect(await status('/namespaces/a%2Fb%20c/ready')).toEqual([200, undefined])
  expect(await status('/workflow/w/status')).toEqual([403, 'ForbiddenError'])
  expect(await status('/ready')).toEqual([200, undefined])
  expect(await status('/capabilities')).toEqual([200, undefined])

  const audited = api.events.filter(({ message }) => message === 'audit').map(({ fields }) => fields)
  expect(new Set(audited.map(({ action, rule, namespace }) => `${action} ${rule} ${namespace}`))).toEqual(
    new Set(['namespace none acme', 'namespace none null', 'namespace none default']),
  )
})

test('namespaces: rights in one namespace are none in another (threat 35)', async () => {
  const rules = [
    { name: 'reads', who: { token: [await sha256('t0ken')] }, can: ['read'] },
    { name: 'measures', who: { token: [await sha256('t0ken')] }, can: ['metrics', 'start'], namespaces: ['acme'] },
  ]
  const api = makeApi({
    workflows: verbsOf('default'),
    namespaces,
    readMetrics: () => '',
    auth: { policy: { issuers: {}, rules } },
  })
  const call = async (method: string, path: string) =>
    (await api.call(method, path, undefined, { Authorization: 'Bearer t0ken' })).status

  expect(await call('GET', '/metrics')).toBe(403)
  expect(await call('POST', '/workflow/start')).toBe(403)
  expect(await call('GET', '/namespaces/acme/workflow/w/status')).toBe(403)
  expect(await call('GET', '/workflow/w/status')).toBe(200)
})

test('namespaces: /ready needs a credential; what is about the whole service does not exist there', async () => {
  const options = { workflows: verbsOf('default'), namespaces, readMetrics: () => '', readDocsFile: async () => null }
  const api = makeApi({ ...options, auth: { tokens: ['s3cret'] } })
  const statusOf = async (path: string, headers = AUTHORIZATION) =>
    (await api.call('GET', path, undefined, headers)).status

  expect(await statusOf('/namespaces/acme/ready')).toBe(200)
  expect(await Promise.all(['/health', '/metrics'].map((path) => statusOf(path)))).toEqual([200, 200])
  const ofService = ['/health', '/metrics', '/docs', '/docs/page.css']
  expect(await Promise.all(ofService.map((path) => statusOf(`/namespaces/acme${path}`)))).toEqual([404, 404, 404, 404])
})

test('namespaces: the OpenAPI document names the URL of the namespace, and nothing of it is public', async () => {
  const documents = await Promise.all(
    ['', '/namespaces/acme', '/namespaces/a%2Fb%20c'].map(async (path) =>
      (await call('GET', `${path}/openapi.json`)).json(),
    ),
  )

  expect(documents.map(({ servers }) => servers)).toEqual([
    [{ url: '/' }],
    [{ url: '/namespaces/acme' }],
    [{ url: '/namespaces/a%2Fb%20c' }],
  ])
  expect(documents.map((one) => one['x-catalog'].namespace)).toEqual(['default', 'acme', 'a/b c'])
  const [own, acme] = documents
  expect(own.info.description).toContain('/namespaces/<name>')
  const ofService = ['/health', '/metrics', '/links/{token}', '/hooks/{hook}']
  expect(Object.keys(own.paths)).toEqual(expect.arrayContaining([...ofService, '/ready']))
  expect(Object.keys(acme.paths)).toEqual(Object.keys(own.paths).filter((path) => !ofService.includes(path)))
  expect(
    [own, acme].map(({ paths }) => [paths['/ready'].get.security, '401' in paths['/ready'].get.responses]),
  ).toEqual([
    [[], false],
    [undefined, true],
  ])
})

test('namespaces: the log names the namespace of a request, and the route does not', async () => {
  events.length = 0

  await call('GET', '/namespaces/acme/workflow/w/status')
  await call('GET', '/workflow/w/status')

  expect(events.map(({ fields }) => [fields.namespace, fields.route])).toEqual([
    ['acme', '/workflow/:id/status'],
    [undefined, '/workflow/:id/status'],
  ])
})

test('namespaces: the log names only those that the caller may use, and an unknown one of an operator has no audit line', async () => {
  const policy = tokenPolicy({ name: 'tenant', can: ['read'], namespaces: ['a/b c'] })
  const api = makeApi({
    workflows: verbsOf('default'),
    namespaces,
    auth: { tokens: ['s3cret'], policy },
    audit: 'effects',
  })
  const namesIn = (line: string) =>
    api.events.filter(({ message }) => message === line).map(({ fields }) => fields.namespace)

  await api.call('GET', '/namespaces/a%2Fb%20c/workflow/w/status', undefined, bearer('tenant'))
  await api.call('GET', '/namespaces/acme/workflow/w/status', undefined, bearer('tenant'))
  await api.call('GET', '/namespaces/none/workflow/w/status', undefined, AUTHORIZATION)

  expect(namesIn('request')).toEqual(['a/b c', undefined, undefined])
  expect(namesIn('audit')).toEqual(['acme'])
})

test('namespaces: probes of a namespace are logged as such', async () => {
  events.length = 0

  await call('GET', '/namespaces/acme/ready')

  expect(events.map(({ level }) => level)).toEqual(['debug'])
})

test('namespaces: all of them share the limit on requests in flight', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let working = 0
  const slow = {
    status: async () => {
      working++
      await released
      return running
    },
  }
  const api = makeApi({
    workflows: verbsOf('default'),
    namespaces: { acme: slow },
    maxInFlight: 1,
    auth: { tokens: ['s3cret'] },
  })
  const get = (path: string, headers: Record<string, string> = AUTHORIZATION) =>
    api.call('GET', path, undefined, { Host: 'portico.test', ...headers })
  const first = get('/namespaces/acme/workflow/w/status')
  await expect.poll(() => working).toBe(1)
  api.loadShedder.close()

  const paths = ['/workflow/w/status', '/namespaces/default/workflow/w/status', '/namespaces/none/workflow/w/status']
  const rejections = await Promise.all(paths.map(async (path) => rejection(await get(path))))
  const without = await rejection(await get('/namespaces/acme/docs', {}))
  release()

  expect(rejections).toEqual(Array.from({ length: 3 }, () => [503, 'OverloadedError']))
  expect(without).toEqual([401, 'UnauthorizedError'])
  expect((await first).status).toBe(200)
})

test('splitNamespace: only a name makes it a path of a namespace (threat 51)', () => {
  const paths = ['/namespaces', '/namespaces/', '/namespaces//workflow', '/namespacesx/a/b', '/workflow/namespaces/a']

  expect(paths.map(splitNamespace)).toEqual(paths.map(() => null))
  expect(splitNamespace('/namespaces/a')).toEqual({ name: 'a', rest: '/' })
  expect(splitNamespace('/namespaces/a/namespaces/b')).toEqual({ name: 'a', rest: '/namespaces/b' })
})
