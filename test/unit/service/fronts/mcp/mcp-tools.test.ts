import { expect, test } from 'vitest'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { catalogOf, rejecting } from '../../http/api.ts'
import { entry } from '../../openapi/typed/catalog-document.ts'
import { COMPLETED, mcpApi, RUN } from './mcp-api.ts'

test('tools/list: without a catalog only the tools for runs are listed, and during an outage there is an error', async () => {
  const missing = rejecting('CatalogNotFoundError')
  const down = rejecting('EngineUnavailableError', 'down', { retryAfterSeconds: 1 })

  const none = await mcpApi({ workflows: { startable: missing } }).legacy('tools/list')
  const outage = await mcpApi({ workflows: { startable: down } }).legacy('tools/list')

  expect(none.body.result.tools).toHaveLength(7)
  expect([outage.status, outage.body.error]).toEqual([
    200,
    { code: -32_603, message: 'down', data: { name: 'EngineUnavailableError', retryable: true } },
  ])
})

test('tools/list: a caller that may not use the catalog gets the error of any request', async () => {
  const { legacy } = mcpApi({ workflows: { startable: rejecting('ForbiddenError', 'not yours') } })

  const { status, body } = await legacy('tools/list', {}, {}, '/mcp/others')

  expect([status, body.error]).toEqual([403, 'ForbiddenError'])
})

test('?workflows: selects tools by the names of workflows and of tools, and keeps those for runs', async () => {
  const workflows = [entry('greet'), entry('a b'), entry('other')]
  const { legacy } = mcpApi({ workflows: { startable: catalogOf(...workflows) } })
  const selected = '/mcp?workflows=a%20b,greet,toString'

  const list = await legacy('tools/list', {}, {}, selected)
  const call = await legacy('tools/call', { name: 'other' }, {}, selected)

  const names = list.body.result.tools.map(({ name }: { name: string }) => name)
  expect(names.slice(0, 3)).toEqual(['greet', 'a_b_c8687a08', 'workflow_result'])
  expect([call.status, call.body.error.code]).toEqual([200, -32_602])
})

test.each(['legacy', 'modern'] as const)('tools/call: a long text is cut, and read on (%s)', async (client) => {
  const completed = { ...COMPLETED, output: 'x'.repeat(200_000) }
  const api = mcpApi({ workflows: { run: async () => completed, result: async () => completed } })

  const first = await api[client]('tools/call', { name: 'greet', arguments: { name: 'Ada' } })
  const next = await api[client]('tools/call', { name: 'workflow_result', arguments: { ...RUN, offset: 196_608 } })

  expect(first.body.result.structuredContent.output).toHaveLength(200_000)
  const texts = [first, next].map(({ body }) => body.result.content[0].text.length)
  expect(texts).toEqual([65_536, 3392])
  expect(JSON.stringify(first.body.result.content)).toContain('offset 65536')
})

test('tools/call: a key in _meta comes before the one in the header', async () => {
  const keys: unknown[] = []
  const run: Workflows['run'] = async ({ idempotencyKey }) => {
    keys.push(idempotencyKey)
    return COMPLETED
  }
  const { legacy } = mcpApi({ workflows: { run } })
  const params = { name: 'greet', arguments: {} }
  const header = { 'Idempotency-Key': 'of-the-header' }

  await legacy('tools/call', params)
  await legacy('tools/call', params, header)
  await legacy('tools/call', { ...params, _meta: { 'portico/idempotencyKey': 'of-meta' } }, header)
  const invalid = await legacy('tools/call', { ...params, _meta: { 'portico/idempotencyKey': 'not valid' } })

  expect(keys).toEqual([undefined, 'of-the-header', 'of-meta'])
  expect(invalid.body.error.code).toBe(-32_602)
})

test('tools/call: during an outage of the catalog a start is rejected, and a tool for runs works', async () => {
  const startable = rejecting('EngineUnavailableError', 'down', { retryAfterSeconds: 1 })
  const { legacy } = mcpApi({
    workflows: { startable, result: async () => COMPLETED },
  })

  const start = await legacy('tools/call', { name: 'greet' })
  const waited = await legacy('tools/call', { name: 'workflow_result', arguments: RUN })

  expect(start.body.result).toMatchObject({
    isError: true,
    structuredContent: { status: 'rejected', error: { name: 'EngineUnavailableError', retryable: true } },
  })
  expect(waited.body.result.structuredContent).toMatchObject({ ...RUN, status: 'completed' })
})

test('tools/call: a bug is the 500 of any request', async () => {
  const { legacy } = mcpApi({ workflows: { run: () => Promise.reject(new Error('a bug')) } })

  const { status, body } = await legacy('tools/call', { name: 'greet' })

  expect([status, body.error]).toEqual([500, 'InternalError'])
})
