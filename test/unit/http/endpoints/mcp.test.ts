import { expect, test } from 'vitest'
import { catalogOf, makeApi } from '../api.ts'
import { entry } from '../openapi/typed/catalog-document.ts'
import { mcpApi, RUN } from './mcp-api.ts'

test('initialize: selects a revision, and creates no session', async () => {
  const { legacy } = mcpApi()

  const known = await legacy('initialize', { protocolVersion: '2025-06-18' })
  const unknown = await legacy('initialize', { protocolVersion: '2024-11-05' })

  expect([known.status, known.body.result.protocolVersion, known.body.result.capabilities]).toEqual([
    200,
    '2025-06-18',
    { tools: {} },
  ])
  expect(unknown.body.result.protocolVersion).toBe('2025-11-25')
  expect(known.headers.get('Mcp-Session-Id')).toBeNull()
})

test('server/discover: names the revisions without sessions, and how long it is valid', async () => {
  const { body } = await mcpApi().modern('server/discover')

  expect(body.result).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    ttlMs: 5000,
    cacheScope: 'private',
  })
})

test('statuses: a message that the protocol does not allow is a 400, and an unknown method a 404 or, in older revisions, a 200', async () => {
  const { send, legacy, modern } = mcpApi()

  const found = await Promise.all([
    send('{'),
    send([]),
    legacy('ping', {}, { 'MCP-Protocol-Version': '1999-01-01' }),
    legacy('tools/list', {}, { 'MCP-Protocol-Version': '2026-07-28' }),
    modern('initialize'),
    legacy('server/discover'),
    legacy('tools/list', { cursor: 'x' }),
  ])

  expect(found.map(({ status, body }) => [status, body.error.code])).toEqual([
    [400, -32_700],
    [400, -32_600],
    [400, -32_022],
    [400, -32_602],
    [404, -32_601],
    [200, -32_601],
    [200, -32_602],
  ])
  expect(found[0]?.body).not.toHaveProperty('id')
  expect(found[2]?.body).toMatchObject({ id: 1, error: { data: { supported: ['2026-07-28'] } } })
})

test('tasks: a client must declare that it can handle them, and those of older revisions do not exist', async () => {
  const { modern } = mcpApi()

  const undeclared = await modern('tasks/get', { taskId: `w/${RUN.runId}` })
  const older = [await modern('tasks/list'), await modern('tasks/result', { taskId: `w/${RUN.runId}` })]

  expect([undeclared.status, undeclared.body.error]).toMatchObject([
    400,
    { code: -32_021, data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } } },
  ])
  expect(older.map(({ status, body }) => [status, body.error.code])).toEqual([
    [404, -32_601],
    [404, -32_601],
  ])
})

test('errors that come before the message are those of any request', async () => {
  const { legacy, send } = mcpApi()

  const found = [
    await legacy('ping', {}, { 'Content-Type': 'text/plain' }),
    await send('x'.repeat(3 << 20)),
    await legacy('ping', {}, {}, '/mcp?wait=25h'),
    await legacy('ping', {}, {}, '/mcp?waits=1s'),
  ]

  expect(found.map(({ status, headers, body }) => [status, headers.get('Content-Type'), body.error])).toEqual([
    [415, 'application/problem+json', 'UnsupportedMediaTypeError'],
    [413, 'application/problem+json', 'PayloadTooLargeError'],
    [400, 'application/problem+json', 'ValidationError'],
    [400, 'application/problem+json', 'ValidationError'],
  ])
})

test('below a namespace the tools are those of its catalogs', async () => {
  const { legacy } = mcpApi({
    auth: { tokens: ['s3cret'] },
    namespaces: { acme: { startable: catalogOf(entry('of_acme')) } },
  })
  const token = { Authorization: 'Bearer s3cret' }

  const { body } = await legacy('tools/list', {}, token, '/namespaces/acme/mcp')
  const unauthorized = await legacy('tools/list', {}, {}, '/namespaces/acme/mcp')

  expect(body.result.tools[0].name).toBe('of_acme')
  expect([unauthorized.status, unauthorized.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="portico"'])
})

test('a notification is accepted, without a body', async () => {
  const { status, body } = await mcpApi().send({ jsonrpc: '2.0', method: 'notifications/initialized' })

  expect([status, body]).toEqual([202, null])
})

test('GET and DELETE are not allowed, and a service without MCP has no such route', async () => {
  const { call } = mcpApi()
  const without = makeApi()

  const statuses = await Promise.all(
    ['GET', 'DELETE'].map(async (method) => {
      const { status, headers } = await call(method, '/mcp')
      return [status, headers.get('Allow')]
    }),
  )

  expect(statuses).toEqual([
    [405, 'POST'],
    [405, 'POST'],
  ])
  expect((await without.call('POST', '/mcp', {})).status).toBe(404)
})

test('credentials: a 401 names Bearer alone, and there is no OAuth to discover', async () => {
  const { call } = mcpApi({ auth: { tokens: ['s3cret'] } })

  const challenge = (await call('POST', '/mcp', {})).headers.get('WWW-Authenticate')
  const ofApi = (await call('GET', '/capabilities')).headers.get('WWW-Authenticate')
  const paths = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server', '/nope']
  const statuses = await Promise.all(paths.map(async (path) => (await call('GET', path)).status))

  expect([challenge, ofApi]).toEqual(['Bearer realm="portico"', expect.stringContaining('Basic')])
  expect(statuses).toEqual([404, 404, 401])
})
