/** How many calls of the engine `POST /mcp` takes to read tasks. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../src/shared/wire/run-ref.ts'
import { callOfTask } from '../support/call-of-task.ts'
import { type InProcessService, test } from '../support/fixtures.ts'
import { countEngineCalls } from './rpc-count-fixture.ts'

const { counted, post, serveCounted, served } = countEngineCalls()

const READ_END = { DescribeWorkflowExecution: 1, GetWorkflowExecutionHistoryReverse: 1 }

/** The state of the task, for a client that can handle tasks. */
async function getTask(service: InProcessService, { workflowId, runId }: RunRef) {
  return (await callOfTask(service, 'tasks/get', { taskId: `${workflowId}/${runId}` })).body.result
}

test('tools/call: an output above SERVICE_MCP_MAX_OUTPUT is cut in the text, and takes no further call', async () => {
  const limited = serveCounted({ SERVICE_MCP_MAX_OUTPUT: '1024' })
  await limited.get('catalog')
  const output = 'x'.repeat(1025)
  const params = { name: 'echo', arguments: { input: output } }
  const call = async () => {
    const { body } = await limited.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    return body.result
  }
  let result: { content: { text: string }[]; structuredContent: object } = { content: [], structuredContent: {} }

  const calls = await counted(async () => {
    result = await call()
  })
  await limited.close()

  expect(calls).toEqual({ StartWorkflowExecution: 1, PollWorkflowExecutionHistory: 1 })
  expect(result.content.map(({ text }) => text)).toEqual([output.slice(1), expect.stringContaining('offset 1024')])
  expect(result.structuredContent).toMatchObject({ output })
})

test('tasks/get of an open run: 2, and one more while the polls of its task queue are not cached', async () => {
  const { body: run } = await served().start('messages', null)
  const cold = serveCounted()
  await cold.get('catalog')
  const waits = async (service: InProcessService) =>
    (await getTask(service, run)).statusMessage?.startsWith('waiting_handler') === true
  await until('it waits', () => waits(served()))

  const first = await counted(async () => expect(await waits(cold)).toBe(true))
  const second = await counted(async () => expect(await waits(cold)).toBe(true))
  await post(`${run.workflowId}/terminate`)
  await cold.close()

  expect(first).toEqual({ ...READ_END, DescribeTaskQueue: 1 })
  expect(second).toEqual(READ_END)
})

test('tasks/get of an ended run: 2', async () => {
  const { body: completed } = await served().run('echo', 1)
  const { body: ended } = await served().start('neverEnds', null)
  await post(`${ended.workflowId}/terminate`)
  // The catalog is cached.
  await served().get('catalog')

  const read = (run: RunRef, expected: string) =>
    counted(async () => {
      const { status, result } = await getTask(served(), run)
      expect([status, result.structuredContent.status]).toEqual(['completed', expected])
    })

  expect([await read(completed, 'completed'), await read(ended, 'terminated')]).toEqual([READ_END, READ_END])
})

test('tasks/get of an ended run while the catalog is not cached: one more for its output schema; 2 if it failed', async () => {
  const { body: completed } = await served().run('echo', 1)
  const { body: ended } = await served().start('neverEnds', null)
  await post(`${ended.workflowId}/terminate`)
  const uncached = serveCounted({ SERVICE_CATALOG_TTL: '0' })
  // It has read the definition once, which never changes.
  await uncached.get('catalog')
  const read = (run: RunRef) => counted(async () => expect((await getTask(uncached, run)).status).toBe('completed'))

  const counts = [await read(completed), await read(ended)]
  await uncached.close()

  expect(counts).toEqual([{ ...READ_END, DescribeWorkflowExecution: 2 }, READ_END])
})
