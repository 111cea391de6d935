import { expect, test } from 'vitest'
import { ServiceError } from '../../../src/domain/model/errors.ts'
import type { SendCommand, Workflows } from '../../../src/domain/model/workflows.ts'
import { callTool } from '../../../src/mcp/call-tool.ts'
import { RUN_TOOLS } from '../../../src/mcp/run-tools.ts'
import type { CallToolResult } from '../../../src/mcp/tool-result.ts'
import { aCall } from '../call.ts'
import { onlyVerbs } from '../http/api.ts'

const RUN_ID = '01a1fc08-1636-792f-9608-1acf4565500b'
const RUN = { workflowId: 'w', runId: RUN_ID }

async function use(name: string, given: unknown, verbs: Partial<Workflows> = {}): Promise<CallToolResult> {
  const answer = await callTool(
    onlyVerbs(verbs),
    {
      ...{ name: `workflow_${name}`, given, catalog: 'orders', waitMs: 1000, maxWaitMs: 60_000 },
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

test('workflow_result: an error of a read is not one of a start', async () => {
  const { structuredContent, isError } = await use('result', RUN, {
    result: () => Promise.reject(new ServiceError('WorkflowNotFoundError', 'none', { details: RUN })),
  })

  expect([structuredContent.status, isError]).toEqual(['rejected', true])
})

test('workflow_query, workflow_signal and workflow_update: send the payload, those that change something with the key', async () => {
  const sent: SendCommand[] = []
  const send = (value: unknown) => async (command: SendCommand) => {
    sent.push(command)
    return value as never
  }
  const verbs = { query: send({ stage: 1 }), signal: send({ ...RUN, warnings: [] }), update: send(2) }

  const query = await use('query', { ...RUN, query: 'progress' }, verbs)
  const signal = await use('signal', { workflowId: 'w', signal: 'approve', payload: null }, verbs)
  const update = await use('update', { workflowId: 'w', update: 'priority', payload: 'high' }, verbs)

  expect(sent).toMatchObject([
    { ref: RUN, message: { name: 'progress', args: [] } },
    { ref: { workflowId: 'w' }, message: { name: 'approve', args: [null] }, idempotencyKey: 'k' },
    { ref: { workflowId: 'w' }, message: { name: 'priority', args: ['high'] }, idempotencyKey: 'k' },
  ])
  expect(sent[0]).not.toHaveProperty('idempotencyKey')
  expect([query, signal, update].map(({ structuredContent }) => structuredContent)).toEqual([
    { ...RUN, query: 'progress', result: { stage: 1 } },
    { ...RUN, signal: 'approve', accepted: true },
    { workflowId: 'w', update: 'priority', result: 2 },
  ])
})

test('workflow_stop and workflow_explain: return what the verbs return', async () => {
  const stopped = { ...RUN, cancelRequested: true, status: 'running' as const }
  const explained = { ...RUN, verdict: 'healthy' as const, since: null, reasons: [] }
  const reasons: unknown[] = []
  const stop: Workflows['stop'] = async ({ reason }) => {
    reasons.push(reason)
    return stopped
  }

  const found = [
    await use('stop', { workflowId: 'w', reason: 'enough' }, { stop }),
    await use('stop', { workflowId: 'w' }, { stop }),
    await use('explain', { workflowId: 'w' }, { explain: async () => explained }),
  ]

  expect(found.map(({ structuredContent }) => structuredContent)).toEqual([stopped, stopped, explained])
  expect(reasons).toEqual(['enough', null])
})

test('workflow_runs: lists the runs of the catalog', async () => {
  const commands: unknown[] = []
  const list: Workflows['list'] = async (command) => {
    commands.push(command)
    return { runs: [], nextPageToken: 'next' }
  }

  const { structuredContent } = await use('runs', { status: 'failed', workflowName: 'order', pageSize: 5 }, { list })
  await use('runs', undefined, { list })

  expect(structuredContent).toEqual({ runs: [], nextPageToken: 'next' })
  expect(commands).toEqual([
    { filter: { catalog: 'orders', status: 'failed', workflowName: 'order' }, pageSize: 5, pageToken: null },
    { filter: { catalog: 'orders' }, pageSize: 20, pageToken: null },
  ])
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
