/** Official clients list tools, call them, and follow a workflow that takes longer than the call. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { CLIENTS, connectNewer, connectOlder, connectWithTasks, type McpClient } from './mcp/clients.ts'
import { test as mcpTest } from './mcp/fixtures.ts'
import { callFromPython } from './mcp/python.ts'

const test = mcpTest.extend('otherService', { scope: 'file' }, ({ startService, serviceEnv, worker: _ }) =>
  startService({ env: serviceEnv }),
)

test.for(CLIENTS)(
  '$name: lists, calls, follows a run to its end, and reads errors',
  async ({ connect }, { serviceProcess }) => {
    const client = await connect(`${serviceProcess.url}/mcp?wait=1s`)
    const tools = await client.listTools()
    const greeting = await resultOf(client, await client.call('greet', { name: 'Ada' }))
    const computed = await resultOf(client, await client.call('slow_compute', { seconds: 3, label: 'all' }))
    const failed = await resultOf(client, await client.call('failing_job'))
    const rejected = await client.call('greet', { name: 1 }).catch((error: Error) => error.message)
    const unknown = await client.call('toString').catch((error: Error) => error.message)
    await client.close()

    expect(tools).toEqual(expect.arrayContaining(['greet', 'slow_compute', 'workflow_result', 'workflow_runs']))
    expect(greeting).toMatchObject({
      isError: false,
      structuredContent: { status: 'completed', output: 'Hello, Ada!' },
    })
    expect(computed).toMatchObject({
      isError: false,
      structuredContent: { status: 'completed', output: 'computed all', workflowId: expect.any(String) },
    })
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', error: { message: expect.stringContaining('intentionally') } },
    })
    expect(JSON.stringify(rejected)).toMatch(/ValidationError|name/)
    expect(unknown).toContain('Unknown tool')
  },
)

test.for(['legacy', 'auto'] as const)(
  'Python, era %s: lists, calls, follows a run, and reads errors',
  async (era, { serviceProcess }) => {
    const lines = await callFromPython({
      url: `${serviceProcess.url}/mcp`,
      era,
      calls: [
        ['greet', { name: 'Ada' }],
        ['slow_compute', { seconds: 2, label: 'all' }],
        ['failing_job', {}],
        ['greet', { name: 1 }],
        ['toString', {}],
      ],
    })
    const tasks = lines.filter((line) => line.task !== undefined)
    const [listed, greeting, computed, failed, rejected, unknown] = lines.filter((line) => line.task === undefined)

    expect(listed.tools).toEqual(expect.arrayContaining(['greet', 'workflow_result']))
    expect(greeting).toMatchObject({ isError: false, structuredContent: { output: 'Hello, Ada!' } })
    expect(computed).toMatchObject({ isError: false, structuredContent: { output: 'computed all' } })
    expect(failed).toMatchObject({ isError: true, structuredContent: { status: 'failed' } })
    expect(rejected).toMatchObject({ isError: true, structuredContent: { error: { issues: [{ path: '/name' }] } } })
    expect(unknown).toMatchObject({ code: -32_602, message: 'Unknown tool: toString' })
    const isTask = (result: object) => lines[lines.indexOf(result) - 1].task !== undefined
    expect([computed, failed].map(isTask)).toEqual(Array(2).fill(era === 'auto'))
    // On a busy machine the greeting may take half a second, and is a task then.
    expect(tasks.length).toBeOneOf(era === 'auto' ? [2, 3] : [0])
  },
)

test('SDK 2 with tasks: shows a form, and the workflow gets the answer', async ({ serviceProcess }) => {
  const client = await connectWithTasks(`${serviceProcess.url}/mcp`, { answer: { confirm: true } })

  const { structuredContent } = await client.call('confirm_delete')
  await client.close()

  expect(structuredContent).toMatchObject({ status: 'completed', output: { confirm: true } })
})

test('two gateways and one key: one run', async ({ serviceProcess, otherService, client: temporal }) => {
  const meta = { 'portico/idempotencyKey': crypto.randomUUID() }
  const given = { seconds: 2, label: 'once' }
  const clients = await Promise.all([
    connectWithTasks(`${serviceProcess.url}/mcp`),
    connectOlder(`${otherService.url}/mcp`),
    connectNewer(`${otherService.url}/mcp`, 'auto'),
  ])

  const outcomes = await Promise.all(clients.map((client) => client.call('slow_compute', given, meta)))
  await Promise.all(clients.map((client) => client.close()))

  const [{ workflowId, runId }] = outcomes.map(({ structuredContent }) => structuredContent) as [Ids]
  for (const { structuredContent } of outcomes)
    expect(structuredContent).toEqual({ workflowId, runId, status: 'completed', output: 'computed once' })
  const count = await until('the run is listed', async () => {
    return (await temporal.workflow.count(`WorkflowId = "${workflowId}"`)).count
  })
  expect(count).toBe(1)
})

interface Ids {
  workflowId: string
  runId: string
}

/** Calls `workflow_result` until the run has ended. */
async function resultOf(client: McpClient, outcome: Awaited<ReturnType<McpClient['call']>>) {
  let current = outcome
  while (current.structuredContent.status === 'running') {
    const { workflowId, runId } = current.structuredContent
    current = await client.call('workflow_result', { workflowId, runId })
  }
  return current
}
