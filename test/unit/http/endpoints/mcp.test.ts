import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { RunCommand, Workflows } from '../../../../src/domain/model/workflows.ts'
import { type ApiOptions, makeApi } from '../api.ts'
import { entry } from '../openapi/typed/catalog-document.ts'

const RUN = { workflowId: 'w', runId: '01a1fc08-1636-792f-9608-1acf4565500b' }

const COMPLETED = {
  ...RUN,
  status: 'completed' as const,
  input: null,
  output: 'Hello',
  trace: null,
  error: null,
  errorDetails: null,
}

const LISTED = entry('greet', { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })

const startable: Workflows['startable'] = async (catalog) => ({ catalog, inputsChecked: true, workflows: [LISTED] })

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

function api({ workflows, ...options }: ApiOptions = {}) {
  const { call, events } = makeApi({
    mcp: { waitMs: 1000, ttlMs: 5000 },
    workflows: { startable, ...workflows },
    ...options,
  })

  async function send(body: unknown, headers: Record<string, string> = {}, path = '/mcp') {
    const response = await call('POST', path, body, headers)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }

  return {
    events,
    call,
    send,
    legacy: (method: string, params: object = {}, headers: Record<string, string> = {}, path?: string) =>
      send({ jsonrpc: '2.0', id: 1, method, params }, headers, path),
    modern(method: string, params: Record<string, unknown> = {}, path?: string) {
      const name = params.name ?? params.taskId
      const headers = {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': name }),
      }
      return send({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }, headers, path)
    },
  }
}

test('initialize: selects a revision, and creates no session', async () => {
  const { legacy } = api()

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
  const { body } = await api().modern('server/discover')

  expect(body.result).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    ttlMs: 5000,
    cacheScope: 'private',
  })
})

test('tools/list: has the workflows of the catalog, then the tools for runs, in both eras', async () => {
  const { legacy, modern } = api()

  const older = await legacy('tools/list')
  const newer = await modern('tools/list')

  const names = older.body.result.tools.map(({ name }: { name: string }) => name)
  expect(names).toEqual([
    'greet',
    ...['result', 'explain', 'query', 'signal', 'update', 'stop', 'runs'].map((name) => `workflow_${name}`),
  ])
  expect(Object.keys(older.body.result)).toEqual(['tools'])
  expect(newer.body.result).toEqual({
    resultType: 'complete',
    tools: older.body.result.tools,
    ttlMs: 5000,
    cacheScope: 'private',
  })
})

test('tools/list: without a catalog only the tools for runs are listed, and during an outage there is an error', async () => {
  const rejecting = (error: ServiceError) => api({ workflows: { startable: () => Promise.reject(error) } })

  const none = await rejecting(new ServiceError('CatalogNotFoundError', 'none')).legacy('tools/list')
  const outage = await rejecting(
    new ServiceError('EngineUnavailableError', 'down', { details: { retryAfterSeconds: 1 } }),
  ).legacy('tools/list')

  expect(none.body.result.tools).toHaveLength(7)
  expect([outage.status, outage.body.error]).toEqual([
    200,
    { code: -32_603, message: 'down', data: { name: 'EngineUnavailableError', retryable: true } },
  ])
})

test('tools/list: a caller that may not use the catalog gets the error of any request', async () => {
  const { legacy } = api({
    workflows: { startable: () => Promise.reject(new ServiceError('ForbiddenError', 'not yours')) },
  })

  const { status, body } = await legacy('tools/list', {}, {}, '/mcp/others')

  expect([status, body.error]).toEqual([403, 'ForbiddenError'])
})

test('?workflows: selects tools by the names of workflows and of tools, and keeps those for runs', async () => {
  const workflows = [entry('greet'), entry('a b'), entry('other')]
  const { legacy } = api({
    workflows: { startable: async (catalog) => ({ catalog, inputsChecked: true, workflows }) },
  })
  const selected = '/mcp?workflows=a%20b,greet,toString'

  const list = await legacy('tools/list', {}, {}, selected)
  const call = await legacy('tools/call', { name: 'other' }, {}, selected)

  const names = list.body.result.tools.map(({ name }: { name: string }) => name)
  expect(names.slice(0, 3)).toEqual(['greet', 'a_b_c8687a08', 'workflow_result'])
  expect([call.status, call.body.error.code]).toEqual([200, -32_602])
})

test('tools/call: starts the workflow with the arguments, and waits as long as the service or the URL says', async () => {
  const commands: RunCommand[] = []
  const run: Workflows['run'] = async (command) => {
    commands.push(command)
    return COMPLETED
  }
  const { legacy, modern } = api({ workflows: { run } })
  const params = { name: 'greet', arguments: { name: 'Ada' } }

  const older = await legacy('tools/call', params)
  const newer = await modern('tools/call', params, '/mcp/payments?wait=5m')

  expect(commands).toMatchObject([
    { workflowName: 'greet', catalog: 'orders', args: [{ name: 'Ada' }], argumentPointer: '', timeoutMs: 1000 },
    { workflowName: 'greet', catalog: 'payments', args: [{ name: 'Ada' }], timeoutMs: 300_000 },
  ])
  expect(older.body.result).toMatchObject({ structuredContent: { ...RUN, status: 'completed', output: 'Hello' } })
  expect(newer.body.result).toEqual({ resultType: 'complete', ...older.body.result })
})

test('tools/call: a key in _meta comes before the one in the header', async () => {
  const keys: unknown[] = []
  const run: Workflows['run'] = async ({ idempotencyKey }) => {
    keys.push(idempotencyKey)
    return COMPLETED
  }
  const { legacy } = api({ workflows: { run } })
  const params = { name: 'greet', arguments: {} }
  const header = { 'Idempotency-Key': 'of-the-header' }

  await legacy('tools/call', params)
  await legacy('tools/call', params, header)
  await legacy('tools/call', { ...params, _meta: { 'portico/idempotencyKey': 'of-meta' } }, header)
  const invalid = await legacy('tools/call', { ...params, _meta: { 'portico/idempotencyKey': 'not valid' } })

  expect(keys).toEqual([undefined, 'of-the-header', 'of-meta'])
  expect(invalid.body.error.code).toBe(-32_602)
})

test('tools/call: a run that is still open is a success that says how to continue', async () => {
  const run: Workflows['run'] = async ({ onStarted }) => {
    onStarted?.(RUN)
    throw new ServiceError('WorkflowExecutionTimedOutError', 'still running', { details: RUN })
  }
  const { legacy } = api({ workflows: { run } })

  const { body } = await legacy('tools/call', { name: 'greet', arguments: {} })

  expect(body.result.structuredContent).toMatchObject({ ...RUN, status: 'running' })
  expect(body.result).not.toHaveProperty('isError')
})

test('tools/call: a rejected start is a result with the issues, and an unknown tool an error', async () => {
  const issues = [{ path: '/name', message: 'is required' }]
  const run = () => Promise.reject(new ServiceError('ValidationError', 'invalid', { details: { issues } }))
  const { legacy } = api({ workflows: { run } })

  const rejected = await legacy('tools/call', { name: 'greet', arguments: {} })
  const unknown = await legacy('tools/call', { name: '__proto__' })
  const nameless = await legacy('tools/call', {})

  expect(rejected.body.result).toMatchObject({
    isError: true,
    structuredContent: { status: 'rejected', error: { name: 'ValidationError', issues, retryable: false } },
  })
  expect([unknown, nameless].map(({ status, body }) => [status, body.error.code])).toEqual([
    [200, -32_602],
    [200, -32_602],
  ])
})

test('tools/call: a bug is the 500 of any request', async () => {
  const { legacy } = api({ workflows: { run: () => Promise.reject(new Error('a bug')) } })

  const { status, body } = await legacy('tools/call', { name: 'greet' })

  expect([status, body.error]).toEqual([500, 'InternalError'])
})

test('statuses: a message that the protocol does not allow is a 400, and an unknown method a 404 or, in older revisions, a 200', async () => {
  const { send, legacy, modern } = api()

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

test('below a namespace the tools are those of its catalogs', async () => {
  const { legacy } = api({
    auth: { tokens: ['s3cret'] },
    namespaces: {
      acme: { startable: async (catalog) => ({ catalog, inputsChecked: true, workflows: [entry('of_acme')] }) },
    },
  })
  const token = { Authorization: 'Bearer s3cret' }

  const { body } = await legacy('tools/list', {}, token, '/namespaces/acme/mcp')
  const unauthorized = await legacy('tools/list', {}, {}, '/namespaces/acme/mcp')

  expect(body.result.tools[0].name).toBe('of_acme')
  expect([unauthorized.status, unauthorized.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="portico"'])
})

test('a notification is accepted, without a body', async () => {
  const { status, body } = await api().send({ jsonrpc: '2.0', method: 'notifications/initialized' })

  expect([status, body]).toEqual([202, null])
})

test('GET and DELETE are not allowed, and a service without MCP has no such route', async () => {
  const { call } = api()
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
  const { call } = api({ auth: { tokens: ['s3cret'] } })

  const challenge = (await call('POST', '/mcp', {})).headers.get('WWW-Authenticate')
  const ofApi = (await call('GET', '/capabilities')).headers.get('WWW-Authenticate')
  const paths = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server', '/nope']
  const statuses = await Promise.all(paths.map(async (path) => (await call('GET', path)).status))

  expect([challenge, ofApi]).toEqual(['Bearer realm="portico"', expect.stringContaining('Basic')])
  expect(statuses).toEqual([404, 404, 401])
})

test('the log line names the method and the tool, if they exist', async () => {
  const { legacy, events } = api({ workflows: { run: async () => COMPLETED } })

  await legacy('tools/call', { name: 'greet', arguments: {} })
  await legacy('a secret')

  expect(events.map(({ fields }) => fields)).toMatchObject([
    { route: '/mcp', rpcMethod: 'tools/call', tool: 'greet', status: 200 },
    { route: '/mcp', rpcMethod: 'unknown', status: 200 },
  ])
})
