import { expect, test } from 'vitest'
import { callTool } from '../../../../../src/service/fronts/mcp/call-tool.ts'
import { RUN_TOOLS } from '../../../../../src/service/fronts/mcp/run-tools.ts'
import type { CallToolResult } from '../../../../../src/service/fronts/mcp/tool-result.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { aCall } from '../../../call.ts'
import { onlyVerbs } from '../../http/api.ts'
import { result as completed } from '../../http/run-api.ts'

const RUN_ID = '01a1fc08-1636-792f-9608-1acf4565500b'
const RUN = { workflowId: 'w', runId: RUN_ID }

async function use(name: string, given: unknown, verbs: Partial<Workflows> = {}): Promise<CallToolResult> {
  const answer = await callTool(
    onlyVerbs(verbs),
    {
      ...{ name: `workflow_${name}`, given, catalog: 'orders', waitMs: 1000, maxWaitMs: 60_000, maxOutputBytes: 1024 },
      ...{ hasTasks: false, acceptsEvents: false, progressToken: null, idempotencyKey: 'k' },
      readTools: () => Promise.reject(new Error('A tool for runs does not need the catalog')),
    },
    aCall(),
  )
  if (answer.kind !== 'result') throw new Error(`not a result, but a ${answer.kind}`)
  return answer.result
}

test('workflow_result: waits for the chain of the run, as long as it says', async () => {
  const commands: unknown[] = []
  const result: Workflows['result'] = async (command) => {
    commands.push(command)
    command.onFound?.(RUN)
    throw new ServiceError('WorkflowExecutionTimedOutError', 'still running')
  }

  const open = await use('result', { workflowId: 'w', wait: '30s' }, { result })
  await use('result', { ...RUN }, { result })
  const late = await use('result', { workflowId: 'w', wait: '2m' }, { result })

  expect(commands).toMatchObject([
    { ref: { workflowId: 'w' }, followsChain: true, waitMs: 30_000 },
    { ref: RUN, followsChain: true, waitMs: 1000 },
  ])
  expect(open.structuredContent).toMatchObject({ ...RUN, status: 'running' })
  expect(late.structuredContent.error).toMatchObject({ name: 'ValidationError', issues: [{ path: '/wait' }] })
})

test('workflow_result: reads on at an offset in the text of a long output', async () => {
  const output = 'abcd'.repeat(500)
  const verbs = { result: async () => ({ ...completed, ...RUN, output }) }

  const first = await use('result', RUN, verbs)
  const second = await use('result', { ...RUN, offset: 1024 }, verbs)
  const wrong = await use('result', { ...RUN, offset: -1 }, verbs)

  expect([first, second].map(({ content }) => content[0]?.text).join('')).toBe(output)
  expect(first.structuredContent.output).toBe(output)
  expect(second.structuredContent).toMatchObject({ offset: 1024, text: output.slice(1024) })
  expect(wrong.structuredContent.error).toMatchObject({ issues: [{ path: '/offset' }] })
})

test('workflow_result: an error of a read is not one of a start', async () => {
  const { structuredContent, isError } = await use('result', RUN, {
    result: () => Promise.reject(new ServiceError('WorkflowNotFoundError', 'none', { details: RUN })),
  })

  expect([structuredContent.status, isError]).toEqual(['rejected', true])
})

test("every tool for runs: ids and types of the engine's own workflows are rejected (threat 51)", async () => {
  const tools = RUN_TOOLS.flatMap(({ tool: { name, inputSchema } }) =>
    ['workflowId', 'workflowName']
      .filter((field) => field in Object(inputSchema.properties))
      .map((field) => ({ name, field })),
  )
  const rejected = await Promise.all(
    tools.map(async ({ name, field }) => {
      const required = { signal: 'x', query: 'x', update: 'x' }
      const named = Object.entries(required).filter(([kind]) => name.endsWith(kind))
      const { structuredContent } = await use(name.replace('workflow_', ''), {
        ...Object.fromEntries(named),
        [field]: 'temporal-sys-scheduler:nightly',
      })
      return structuredContent.error
    }),
  )

  expect(rejected).toMatchObject(
    tools.map(({ field }) => ({ name: 'ValidationError', issues: [{ path: `/${field}` }] })),
  )
  expect(new Set(tools.map(({ field }) => field)).size).toBe(2)
})

test.for<[tool: string, given: Record<string, unknown>, path: string]>([
  ['result', {}, ''],
  ['result', { workflowId: 7 }, '/workflowId'],
  ['result', { workflowId: '$catalog:orders' }, '/workflowId'],
  ['explain', { workflowId: 'w', runId: 'latest' }, '/runId'],
  ['signal', { workflowId: 'w', signal: '__stack_trace' }, '/signal'],
  ['stop', { workflowId: 'w', force: true }, ''],
  ['runs', { status: 'unknown' }, '/status'],
  ['runs', { workflowName: 'a\u0007' }, '/workflowName'],
])('workflow_%s: rejects %o', async ([tool, given, path]) => {
  const { structuredContent, isError } = await use(tool, given)

  const { issues } = structuredContent.error as { issues: { path: string }[] }
  expect([structuredContent.status, issues[0]?.path.startsWith(path), isError]).toEqual(['rejected', true, true])
})

test('the tools for runs say which of them only read, and which one stops a run', () => {
  const reads = { readOnlyHint: true, openWorldHint: false }
  const changes = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
  const stops = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

  expect(Object.fromEntries(RUN_TOOLS.map(({ tool }) => [tool.name, tool.annotations]))).toEqual({
    workflow_result: reads,
    workflow_explain: reads,
    workflow_query: reads,
    workflow_signal: changes,
    workflow_update: changes,
    workflow_stop: stops,
    workflow_runs: reads,
  })
})

test('tools for messages: the schema of their payload names all types of JSON', () => {
  const payloads = RUN_TOOLS.flatMap(({ tool }) => Object(tool.inputSchema.properties).payload ?? [])

  expect(payloads).toHaveLength(3)
  for (const { anyOf } of payloads)
    expect(anyOf.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      ...['array', 'boolean', 'null', 'number', 'object', 'string'],
    ])
})
