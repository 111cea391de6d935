import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { rule } from '../../support/rules.ts'
import type { ApiFixture } from './api-fixture.ts'
import { mcpMessages, readUntil, TASKS } from './mcp-messages.ts'

/** Long calls and subscriptions, from clients that can handle tasks. */
export function mcpTasks(api: () => ApiFixture): void {
  const { modern, resultOf, withTasks, sendWithTasks } = mcpMessages(api)

  rule('mcp.long-runs-are-tasks', async () => {
    const created = await withTasks('tools/call', { name: 'waitForSignal', arguments: {} })
    const { taskId } = created
    const get = () => withTasks('tasks/get', { taskId })
    const working = await get()
    const attached = await withTasks('tools/call', {
      name: 'workflow_result',
      arguments: { workflowId: taskId.split('/')[0] },
    })
    await api().service.post(`${taskId.split('/')[0]}/signal/finish`, { payload: 'done' })
    const completed = await until('the task has ended', async () => {
      const task = await get()
      return task.status === 'completed' && task
    })
    const withoutTasks = await modern('tasks/get', { taskId })
    const unknown = await modern('tasks/get', { taskId: 'nothing' }, { capabilities: TASKS })

    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000 })
    expect(working).toMatchObject({ resultType: 'complete', taskId, status: 'working' })
    expect(attached).toMatchObject({ resultType: 'task', taskId, status: 'working' })
    expect(completed.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'completed', output: ['done'] },
    })
    expect([withoutTasks.status, withoutTasks.messages[0]?.error.code]).toEqual([400, -32_021])
    expect([unknown.status, unknown.messages[0]?.error.code]).toEqual([200, -32_602])
  })

  test('mcp: a canceled task lets its workflow clean up', async () => {
    const { taskId } = await withTasks('tools/call', { name: 'cleansUp', arguments: { input: { ms: 200 } } })
    const acknowledged = await withTasks('tasks/cancel', { taskId })

    const task = await until('the task has ended', async () => {
      const task = await withTasks('tasks/get', { taskId })
      return task.status !== 'working' && task
    })

    expect([acknowledged, task.status]).toEqual([{ resultType: 'complete' }, 'cancelled'])
  })

  test('mcp: a subscription sends the task that has ended', async () => {
    const { taskId } = await withTasks('tools/call', { name: 'sleepFor', arguments: { ms: 2000 } })
    const client = new AbortController()
    const response = await sendWithTasks(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId], toolsListChanged: true } },
      { signal: client.signal },
    )
    const text = await readUntil(response, 'notifications/tasks"')
    client.abort()

    const [acknowledged, task] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(acknowledged.params).toEqual({
      notifications: { toolsListChanged: true, taskIds: [taskId] },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 1 },
    })
    expect(task.params).toMatchObject({ taskId, status: 'completed', result: { resultType: 'complete' } })
  })

  rule('mcp.reports-changed-tools', async () => {
    const { restrictedService, startWorker } = api()
    const taskQueue = `changing-${crypto.randomUUID()}`
    await startWorker({ taskQueue, catalog: defineCatalog({ echo: {} }) })
    // It reads the catalog each second.
    const options = { url: restrictedService.url, path: `/mcp/${taskQueue}` }
    const client = new AbortController()
    const response = await sendWithTasks(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { ...options, signal: client.signal },
    )
    const text = readUntil(response, 'notifications/tools/list_changed"')
    await startWorker({ taskQueue, catalog: defineCatalog({ echo: {}, nothing: {} }) })
    const messages = [...(await text).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    client.abort()
    const { tools } = await resultOf(modern('tools/list', {}, options))

    const about = { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } }
    expect(messages).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, ...about },
      },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: about },
    ])
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['echo', 'nothing']))
  })
}
