import { expect, test } from 'vitest'
import { COMPLETED, mcpApi } from './mcp-api.ts'

test('the log line names the method and the tool, if they exist', async () => {
  const { legacy, events } = mcpApi({ workflows: { run: async () => COMPLETED } })

  await legacy('tools/call', { name: 'greet', arguments: {} })
  await legacy('a secret')

  expect(events.map(({ fields }) => fields)).toMatchObject([
    { route: '/mcp', rpcMethod: 'tools/call', tool: 'greet', status: 200 },
    { route: '/mcp', rpcMethod: 'unknown', status: 200 },
  ])
})
