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
