/** What callers with rules can do with tools: threats 14, 16 and 19 of docs/access.md, through `POST /mcp`. */
import { expect } from 'vitest'
import { taskIdOf } from '../../../src/service/fronts/mcp/tasks/tasks.ts'
import { newId } from '../../../src/shared/lib/new-id.ts'
import type { Api } from '../../support/api.ts'
import { callOfTask } from '../../support/call-of-task.ts'
import { rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('echoes', { can: ['start', 'read'], ids: ['e:*'], workflows: ['echo'] }),
  tokenRule('ada', { can: ['start', 'read', 'stop'], ids: ['ada:*'] }),
  tokenRule('ben', { can: ['start', 'read', 'stop'], ids: ['ben:*'] }),
  tokenRule('backend', { can: ['start', 'read', 'delegate'], ids: ['b:*'] }),
  tokenRule('starter', { can: ['start'], ids: ['s:*'] }),
  tokenRule('reader', { can: ['read'] }),
  tokenRule('stopper', { can: ['stop'] }),
]

const test = testWithCallers(RULES)

async function send(api: Api, method: string, params: object = {}) {
  const { body } = await api.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })
  return body
}

async function toolNames(api: Api): Promise<string[]> {
  const { result } = await send(api, 'tools/list')
  return result.tools.map(({ name }: { name: string }) => name).filter((name: string) => !name.startsWith('workflow_'))
}

async function callTool(api: Api, name: string, given: object, meta: object = {}) {
  return (await send(api, 'tools/call', { name, arguments: given, _meta: meta })).result?.structuredContent
}

test('the tools of a caller are the workflows that it may start, by their aliases too (threat 91)', async ({
  callers: { as, operator },
}) => {
  const [ofOperator, ofEchoes, ofReader] = [
    await toolNames(operator),
    await toolNames(as('echoes')),
    await toolNames(as('reader')),
  ]
  const called = await callTool(as('echoes'), 'parrot', { input: 1 })
  const other = await send(as('echoes'), 'tools/call', { name: 'nothing' })

  expect(ofOperator.length).toBeGreaterThan(20)
  expect([ofEchoes, ofReader]).toEqual([['echo'], []])
  expect(called).toMatchObject({ status: 'completed', output: 1, workflowId: expect.stringMatching(/^e:/) })
  expect(other.error.code).toBe(-32_602)
})

test('the tools of an access token are the workflows that it names (threat 31)', async ({ callers: { as } }) => {
  const delegation = { can: ['start', 'read'], workflows: ['echo'] }
  const { body } = await as('backend').call('POST', '/tokens', delegation)
  const agent = as('backend', body.token)

  const names = [await toolNames(as('backend')), await toolNames(agent)]
  const called = await callTool(agent, 'echo', { input: 1 })
  const other = await send(agent, 'tools/call', { name: 'nothing' })

  expect(names).toEqual([expect.arrayContaining(['echo', 'nothing']), ['echo']])
  expect(called).toMatchObject({ status: 'completed', output: 1, workflowId: expect.stringMatching(/^b:/) })
  expect(other.error.code).toBe(-32_602)
})

test('a caller that may only start does not get the output (threat 91)', async ({ callers: { as } }) => {
  expect(await callTool(as('starter'), 'echo', { input: 1 })).toMatchObject({
    status: 'rejected',
    error: { name: 'ForbiddenError' },
  })
})

test('a caller that may only stop runs lists and calls the tool that stops them (threat 91)', async ({
  callers: { as },
}) => {
  const { workflowId } = await callTool(as('ada'), 'echo', { input: 1 })

  const { result } = await send(as('stopper'), 'tools/list')
  const stopped = await callTool(as('stopper'), 'workflow_stop', { workflowId })
  const read = await callTool(as('stopper'), 'workflow_result', { workflowId })

  expect(result.tools).toHaveLength(7)
  expect(stopped).toMatchObject({ workflowId, status: 'completed', cancelRequested: false })
  expect(read).toMatchObject({ status: 'rejected', error: { name: 'ForbiddenError', action: 'read' } })
})

test('runs of another tenant are out of reach of every tool and of tasks (threat 91)', async ({ callers: { as } }) => {
  const { workflowId, runId } = await callTool(as('ada'), 'echo', { input: 'of Ada' })

  const found = await Promise.all([
    callTool(as('ben'), 'workflow_result', { workflowId }),
    callTool(as('ben'), 'workflow_result', { workflowId, runId }),
    callTool(as('ben'), 'workflow_explain', { workflowId }),
    callTool(as('ben'), 'workflow_stop', { workflowId }),
    callTool(as('ben'), 'workflow_query', { workflowId, query: 'state' }),
    callTool(as('ben'), 'workflow_runs', {}),
  ])

  expect(found.map((value) => [value.status, value.error.name])).toEqual(
    found.map(() => ['rejected', 'ForbiddenError']),
  )
  expect(await callTool(as('ada'), 'workflow_result', { workflowId })).toMatchObject({ output: 'of Ada' })
})

test('tasks need the verb read, and their cancellation stop too: a denial is an error with status 200 (threat 91)', async ({
  callers: { as },
}) => {
  const run = await as('ada').start('neverEnds', null, { workflowId: `ada:${newId()}` })
  const taskId = taskIdOf(run.body)
  const answered = async (rule: string, method: string) => {
    const { status, body } = await callOfTask(as(rule), method, { taskId })
    return [status, body.error?.code ?? body.result.resultType]
  }

  const answers = [
    await answered('stopper', 'tasks/get'),
    await answered('ben', 'tasks/get'),
    await answered('reader', 'tasks/get'),
    await answered('reader', 'tasks/cancel'),
    await answered('stopper', 'tasks/cancel'),
    await answered('ada', 'tasks/cancel'),
  ]

  expect(answers).toEqual([
    [200, -32_602],
    [200, -32_602],
    [200, 'complete'],
    [200, -32_602],
    [200, -32_602],
    [200, 'complete'],
  ])
})

test('two callers with the same key start two runs (threat 92)', async ({ callers: { as } }) => {
  const key = { 'portico/idempotencyKey': crypto.randomUUID() }

  const runs = [
    await callTool(as('ada'), 'echo', { input: 1 }, key),
    await callTool(as('ada'), 'echo', { input: 1 }, key),
    await callTool(as('ben'), 'echo', { input: 1 }, key),
  ]

  expect(runs[0].runId).toBe(runs[1].runId)
  expect(runs[2].runId).not.toBe(runs[0].runId)
})

test('a catalog that none of the rules names is forbidden for every method (threat 91)', async ({
  callers: { as, operator },
}) => {
  const methods = ['initialize', 'ping', 'tools/list', 'tools/call', 'unknown/method']
  const sendTo = (api: Api, path: string, method: string) =>
    api.call('POST', path, { jsonrpc: '2.0', id: 1, method, params: { name: 'workflow_runs', arguments: {} } })

  const denied = await Promise.all(methods.map((method) => sendTo(as('ada'), '/mcp/other', method)))
  const [own, ofOperator] = [
    await sendTo(as('ada'), '/mcp', 'initialize'),
    await sendTo(operator, '/mcp/other', 'initialize'),
  ]

  expect(denied.map(rejectionOf)).toEqual(methods.map(() => [403, 'ForbiddenError', 'tools']))
  expect([own.status, ofOperator.status]).toEqual([200, 200])
})
