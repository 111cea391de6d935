import { expect, test } from 'vitest'
import { progressTokenOf, readMessage, requestIdOf } from '../../../../../src/service/fronts/mcp/message.ts'
import { META } from '../../../../../src/service/fronts/mcp/protocol.ts'
import { JsonRpcError } from '../../../../../src/service/fronts/mcp/rpc-error.ts'

const VERSION = '2026-07-28'
const META_FIELDS = { [META.protocolVersion]: VERSION, [META.clientCapabilities]: {} }

function read(body: unknown, headers: Record<string, string> = {}) {
  return readMessage(body, (name) => headers[name])
}

function modern(method: string, params: object = {}, meta: object = {}) {
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...META_FIELDS, ...meta } } }
}

function headersFor(method: string, name?: string): Record<string, string> {
  return {
    'MCP-Protocol-Version': VERSION,
    'Mcp-Method': method,
    ...(name !== undefined && { 'Mcp-Name': name }),
  }
}

/** Code of the error, and what is rejected. */
function rejection(body: unknown, headers: Record<string, string> = {}): unknown {
  try {
    return read(body, headers)
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error
    return [error.code, error.rejected]
  }
}

test('readMessage: a request without a revision is a legacy one', () => {
  const legacy = { jsonrpc: '2.0', id: 'a', method: 'tools/list' }

  expect(read(legacy)).toEqual({
    id: 'a',
    method: 'tools/list',
    params: {},
    meta: {},
    isLegacy: true,
    hasTasks: false,
  })
  expect(read(legacy, { 'MCP-Protocol-Version': '2025-06-18' })).toMatchObject({ isLegacy: true })
})

test('readMessage: a message without an id is a notification', () => {
  expect(read({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeNull()
})

test.for<[what: string, body: unknown]>([
  ['an array', []],
  ['a string', 'ping'],
  ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }],
  ['an id that is too long', { jsonrpc: '2.0', id: 'a'.repeat(256), method: 'ping' }],
  ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }],
])('readMessage: %s is not a request', ([, body]) => {
  expect(rejection(body)).toEqual([-32_600, 'message'])
})

test('readMessage: a modern request says whether its client can handle tasks', () => {
  const capabilities = { [META.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  const headers = headersFor('tools/list')

  expect(read(modern('tools/list'), headers)).toMatchObject({ isLegacy: false, hasTasks: false })
  expect(read(modern('tools/list', {}, capabilities), headers)).toMatchObject({ isLegacy: false, hasTasks: true })
})

test.for<[what: string, headers: Record<string, string>]>([
  ['no revision', { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'greet' }],
  ['another revision', { ...headersFor('tools/call', 'greet'), 'MCP-Protocol-Version': '2025-11-25' }],
  ['no method', { 'MCP-Protocol-Version': VERSION, 'Mcp-Name': 'greet' }],
  ['another method', headersFor('tools/list', 'greet')],
  ['no name', headersFor('tools/call')],
  ['another name', headersFor('tools/call', 'Greet')],
  ['a name that is not base64', headersFor('tools/call', '=?base64?***?=')],
])('readMessage: headers with %s do not match the message (threat 93)', ([, headers]) => {
  expect(rejection(modern('tools/call', { name: 'greet' }), headers)).toEqual([-32_020, 'message'])
})

test('readMessage: a header can have spaces around it, and characters in base64', () => {
  const encoded = `=?base64?${Buffer.from('Grüße').toString('base64')}?=`

  expect(read(modern('tools/call', { name: 'Grüße' }), headersFor('tools/call', encoded))).toMatchObject({ id: 1 })
  expect(read(modern('tools/call', { name: 'greet' }), headersFor('tools/call', ' greet '))).toMatchObject({ id: 1 })
})

test('readMessage: an unknown revision is rejected, with those that are supported', () => {
  const unknown = { jsonrpc: '2.0', id: 1, method: 'ping' }

  expect(rejection(unknown, { 'MCP-Protocol-Version': '1999-01-01' })).toEqual([-32_022, 'message'])
  expect(
    rejection(modern('ping', {}, { [META.protocolVersion]: '2027-01-01' }), {
      ...headersFor('ping'),
      'MCP-Protocol-Version': '2027-01-01',
    }),
  ).toEqual([-32_022, 'message'])
})

test('readMessage: a modern request without its fields in _meta is not valid', () => {
  const { [META.clientCapabilities]: _, ...withoutCapabilities } = META_FIELDS
  const bare = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

  expect(rejection(bare, headersFor('tools/list'))).toEqual([-32_602, 'message'])
  expect(rejection({ ...bare, params: { _meta: withoutCapabilities } }, headersFor('tools/list'))).toEqual([
    -32_602,
    'message',
  ])
})

test('requestIdOf: an id that is neither a string nor a number is not repeated', () => {
  expect([{ id: 'a' }, { id: 0 }, { id: null }, { id: {} }, [], null].map(requestIdOf)).toEqual([
    'a',
    0,
    null,
    null,
    null,
    null,
  ])
})

test('requestIdOf: responses never repeat an id that is too long (threat 104)', () => {
  expect([255, 256].map((length) => requestIdOf({ id: 'a'.repeat(length) })?.toString().length)).toEqual([
    255,
    undefined,
  ])
})

test('progressTokenOf: is null without a token, and rejects one that is not valid (threat 104)', () => {
  const tokens = [undefined, 7, 'a'.repeat(255)].map((progressToken) => progressTokenOf({ progressToken }))

  expect(tokens).toEqual([null, 7, 'a'.repeat(255)])
  for (const progressToken of ['a'.repeat(256), {}, null])
    expect(() => progressTokenOf({ progressToken })).toThrow(JsonRpcError)
})
