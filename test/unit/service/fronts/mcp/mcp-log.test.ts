import { expect, test } from 'vitest'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { rejecting } from '../../http/api.ts'
import { COMPLETED, mcpApi, RUN } from './mcp-api.ts'

test('the log line names the method and the tool, if they exist', async () => {
  const { legacy, events } = mcpApi({ workflows: { run: async () => COMPLETED } })

  await legacy('tools/call', { name: 'greet', arguments: {} })
  await legacy('a secret')

  expect(events.map(({ fields }) => fields)).toMatchObject([
    { route: '/mcp', rpcMethod: 'tools/call', tool: 'greet', status: 200 },
    { route: '/mcp', rpcMethod: 'unknown', status: 200 },
  ])
})

test('an error that a tool returns is in the log line, as that of any request', async () => {
  const cause = new Error('connection refused')
  const outage = new ServiceError('EngineUnavailableError', 'down', { cause, details: { retryAfterSeconds: 1 } })
  const invalid = new ServiceError('ValidationError', 'invalid')
  const failing = (error: ServiceError) => mcpApi({ workflows: { run: () => Promise.reject(error) } })
  const [ofOutage, ofInvalid] = [failing(outage), failing(invalid)]

  const { status } = await ofOutage.legacy('tools/call', { name: 'greet' })
  await ofInvalid.legacy('tools/call', { name: 'greet' })

  expect(status).toBe(200)
  expect(ofOutage.events).toMatchObject([
    { level: 'warn', fields: { tool: 'greet', status: 503, error: 'EngineUnavailableError', cause } },
  ])
  expect(ofInvalid.events).toMatchObject([{ level: 'info', fields: { status: 400, error: 'ValidationError' } }])
  expect(ofInvalid.events[0]?.fields).not.toHaveProperty('cause')
})

test('an error of a tool for runs, and of the catalog that a start needs, is in the log line', async () => {
  const down = rejecting('EngineUnavailableError')
  const { legacy, events } = mcpApi({ workflows: { stop: down, startable: down } })

  await legacy('tools/call', { name: 'workflow_stop', arguments: { workflowId: 'w' } })
  await legacy('tools/call', { name: 'greet' })

  expect(events.map(({ fields }) => [fields.tool, fields.status, fields.error])).toEqual([
    ['workflow_stop', 503, 'EngineUnavailableError'],
    [undefined, 503, 'EngineUnavailableError'],
  ])
})

test('an error that a JSON-RPC error reports is in the log line', async () => {
  const cause = new Error('connection refused')
  const down = () => Promise.reject(new ServiceError('EngineUnavailableError', 'down', { cause }))
  const { legacy, events } = mcpApi({ workflows: { startable: down } })

  await legacy('tools/list')

  expect(events).toMatchObject([{ level: 'warn', fields: { status: 503, error: 'EngineUnavailableError', cause } }])
})

test('a stream that fails reports the error with the ids of the run', async () => {
  const cause = new TypeError('a bug')
  const { promise: never } = Promise.withResolvers<never>()
  const run: Workflows['run'] = async ({ onStarted }) => {
    onStarted?.(RUN)
    return never
  }
  const { call, events } = mcpApi({ workflows: { run, explain: () => Promise.reject(cause) } })
  const params = { name: 'greet', _meta: { progressToken: 'p' } }
  const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }

  const response = await call('POST', '/mcp', message, { Accept: 'text/event-stream' })
  const [, last = ''] = (await response.text()).split('data: ')

  expect(JSON.parse(last)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32_603, message: 'Internal error', data: { name: 'InternalError', ...RUN, retryable: false } },
  })
  expect(events).toMatchObject([{ level: 'error', fields: { status: 500, error: 'InternalError', cause } }])
})

test('a bug after a start is logged as an error with its cause, also in a stream', async () => {
  const cause = new TypeError('a bug')
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const run: Workflows['run'] = async ({ onStarted }) => {
    onStarted?.(RUN)
    return ended
  }
  const { call, events } = mcpApi({ workflows: { run } })
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet' } }

  const alone = call('POST', '/mcp', message)
  const stream = await call('POST', '/mcp', message, { Accept: 'text/event-stream' })
  reject(new ServiceError('InternalError', 'Internal error', { cause, details: RUN }))
  const [, last = ''] = (await stream.text()).split('data: ')

  const { result } = await (await alone).json()
  expect(result.structuredContent).toMatchObject({ ...RUN, status: 'unknown', error: { name: 'InternalError' } })
  expect(JSON.parse(last).result).toEqual(result)
  expect(events).toMatchObject(
    Array(2).fill({ level: 'error', fields: { status: 500, error: 'InternalError', cause } }),
  )
})
