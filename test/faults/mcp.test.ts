/** Calls of tools while the engine cannot answer: what their results say about the run. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('callTool', { scope: 'file' }, async ({ serviceBehindFaultProxy: api, worker: _ }) => {
    await until('the catalog is published', async () => (await api.get('catalog')).status === 200)
    return async (name: string, given: object, path = '/mcp') => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
      return (await api.call('POST', path, message)).body.result
    }
  })

const DOWN = { code: 14, message: 'down' }

test('tools: a start whose answer is lost is unknown, and workflow_result finds its run', async ({
  faultProxy,
  callTool,
}) => {
  const input = `lost-${crypto.randomUUID()}`
  // Otherwise the service finds the run by itself.
  const takeBack = [
    faultProxy.on({ method: 'StartWorkflowExecution', containing: input, fault: { lost: async () => {} } }),
    faultProxy.on({ method: 'DescribeWorkflowExecution', containing: '', fault: DOWN }),
  ]

  const { isError, structuredContent } = await callTool('echo', { input })
  for (const end of takeBack) end()
  const { workflowId, status, error, note } = structuredContent
  const found = await callTool('workflow_result', { workflowId })

  expect([isError, status, error.name, error.retryable]).toEqual([true, 'unknown', 'OutcomeUnknownError', false])
  expect(note).toContain('Call workflow_result with this workflowId')
  expect(found.structuredContent).toMatchObject({ workflowId, status: 'completed', output: input })
})

test('tools: an outage during the wait is not an error, and the result has the ids', async ({
  faultProxy,
  callTool,
}) => {
  const takeBack = faultProxy.on({
    method: 'GetWorkflowExecutionHistory',
    containing: '',
    fault: DOWN,
  })

  const { isError, structuredContent } = await callTool('echo', { input: 1 }, '/mcp?wait=4s')
  takeBack()
  const { workflowId, runId, status, error, note } = structuredContent
  const found = await callTool('workflow_result', { workflowId, runId })

  expect([isError, status]).toEqual([undefined, 'unknown'])
  expect(error).toMatchObject({ name: 'OutcomeUnknownError' })
  expect(note).toContain('Call workflow_result with this workflowId and runId')
  expect(found.structuredContent).toMatchObject({ workflowId, status: 'completed' })
})
