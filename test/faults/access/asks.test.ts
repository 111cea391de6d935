/** Who may answer what a task asks, on the real engine. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { newId } from '../../../src/lib/new-id.ts'
import { taskIdOf } from '../../../src/mcp/tasks/task-id.ts'
import { callOfTask } from '../../support/call-of-task.ts'
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

test('an answer needs the right to send its signal: a denial is an error with status 200, and answers nothing', async ({
  callers: { as },
  client,
  catalog,
}) => {
  const workflowId = newId()
  const handle = await client.workflow.start('asksOnce', { workflowId, taskQueue: catalog })
  const taskId = taskIdOf({ workflowId, runId: handle.firstExecutionRunId })
  const asked = () =>
    until(
      'the workflow asks',
      async () => (await callOfTask(as('reader'), 'tasks/get', { taskId })).body.result?.inputRequests,
    )
  const [key = ''] = Object.keys(await asked())
  const inputResponses = { [key]: { action: 'accept', content: { approved: true } } }
  const answer = async (rule: string) => {
    const { status, body } = await callOfTask(as(rule), 'tasks/update', { taskId, inputResponses })
    return [status, body.error?.code ?? body.result.resultType]
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
