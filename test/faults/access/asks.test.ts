/** Who may answer what a task asks, on the real engine. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { newId } from '../../../src/lib/new-id.ts'
import { taskIdOf } from '../../../src/mcp/tasks/task-id.ts'
import type { Api } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { startCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('reader', { can: ['start', 'read'] }),
  tokenRule('approver', { can: ['read', 'signal:approve'] }),
  tokenRule('answerer', { can: ['read', 'signal:answer'] }),
]

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('../../support/asking-workflows.ts', import.meta.url),
  }))
  .extend('callers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) =>
    startCallers({ serve, cleanup, rules: RULES, env: {} }),
  )

async function send(api: Api, method: string, params: { taskId: string; inputResponses?: object }) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': params.taskId }
  const { status, body } = await api.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers,
  )
  return { status, ...body }
}

test('an answer needs the right to send its signal: a denial is an error with status 200, and answers nothing', async ({
  callers: { as },
  client,
  catalog,
}) => {
  const workflowId = newId()
  const handle = await client.workflow.start('asksOnce', { workflowId, taskQueue: catalog })
  const taskId = taskIdOf({ workflowId, runId: handle.firstExecutionRunId })
  const asked = () =>
    until('the workflow asks', async () => (await send(as('reader'), 'tasks/get', { taskId })).result?.inputRequests)
  const [key = ''] = Object.keys(await asked())
  const inputResponses = { [key]: { action: 'accept', content: { approved: true } } }
  const answer = async (rule: string) => {
    const { status, error, result } = await send(as(rule), 'tasks/update', { taskId, inputResponses })
    return [status, error?.code ?? result.resultType]
  }

  const denied = [await answer('reader'), await answer('approver')]
  const stillAsked = Object.keys(await asked())
  const accepted = await answer('answerer')

  expect(denied).toEqual([
    [200, -32_602],
    [200, -32_602],
  ])
  expect([stillAsked, accepted]).toEqual([[key], [200, 'complete']])
  expect(await handle.result()).toEqual({ approved: true })
})
