import { expect, test } from 'vitest'
import { mcpApi, RUN } from './mcp-api.ts'

test('statuses: a message that the protocol does not allow is a 400, and an unknown method a 404 or, in older revisions, a 200', async () => {
  const { send, legacy, modern } = mcpApi()

  const found = await Promise.all([
    send('{'),
    send(''),
    send({}),
    send([]),
    legacy('ping', {}, { 'MCP-Protocol-Version': '1999-01-01' }),
    legacy('tools/list', {}, { 'MCP-Protocol-Version': '2026-07-28' }),
    modern('initialize'),
    legacy('server/discover'),
    legacy('tools/list', { cursor: 'x' }),
  ])

  expect(found.map(({ status, body }) => [status, body.error.code])).toEqual([
    [400, -32_700],
    [400, -32_700],
    [400, -32_600],
    [400, -32_600],
    [400, -32_022],
    [400, -32_602],
    [404, -32_601],
    [200, -32_601],
    [200, -32_602],
  ])
  expect(found[0]?.body).not.toHaveProperty('id')
  expect(found[4]?.body).toMatchObject({ id: 1, error: { data: { supported: ['2026-07-28'] } } })
})

test('errors: none grows with what the client has sent, whatever part of the message is long (threat 104)', async () => {
  const { legacy, modern } = mcpApi()
  const long = 'x'.repeat(100_000)
  const meta = { 'io.modelcontextprotocol/protocolVersion': long, 'io.modelcontextprotocol/clientCapabilities': {} }

  const found = await Promise.all([
    legacy('tools/list', { cursor: long }),
    legacy(long),
    legacy('tools/call', { name: long }),
    legacy('tools/call', { name: 'greet', _meta: { 'portico/idempotencyKey': long } }),
    legacy('tools/call', { name: 'greet', _meta: { progressToken: long } }),
    legacy('ping', { _meta: meta }, { 'MCP-Protocol-Version': long, 'Mcp-Method': 'ping' }),
    modern('tools/list', { cursor: long }),
    modern('ping', { _meta: { ...meta, [long]: long } }),
    modern('subscriptions/listen', { notifications: { taskIds: [long] } }),
  ])

  const sizes = found.map(({ body }) => JSON.stringify(body).length)
  expect(found.map(({ body }) => 'error' in body || body.result.isError)).not.toContain(false)
  expect(Math.max(...sizes)).toBeLessThan(1000)
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
