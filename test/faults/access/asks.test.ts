/** Who may answer what a task asks, on the real engine. */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { taskIdOf } from '../../../src/service/fronts/mcp/tasks/tasks.ts'
import { newId } from '../../../src/shared/lib/new-id.ts'
import type { Api } from '../../support/api.ts'
import { callOfTask } from '../../support/call-of-task.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { startCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('reader', { can: ['start', 'read'] }),
  tokenRule('approver', { can: ['read', 'signal:approve'] }),
  tokenRule('answerer', { can: ['read', 'signal:answer'] }),
  tokenRule('colleague', { can: ['read', 'signal:answer'] }),
]

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('../../support/asking-workflows.ts', import.meta.url),
  }))
  .extend('callers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) =>
    startCallers({ serve, cleanup, rules: RULES, env: {} }),
  )

/** A run that asks. `asked` returns the keys of its open questions, as `reader` sees them. */
async function asking(client: Client, taskQueue: string, reader: Api) {
  const workflowId = newId()
  const handle = await client.workflow.start('asksOnce', { workflowId, taskQueue })
  const taskId = taskIdOf({ workflowId, runId: handle.firstExecutionRunId })
  const asked = () =>
    until('the workflow asks', async () => {
      const { body } = await callOfTask(reader, 'tasks/get', { taskId })
      return body.result?.inputRequests && Object.keys(body.result.inputRequests)
    })
  const [key = ''] = await asked()
  return { handle, taskId, asked, key }
}

test('an answer needs the right to send its signal: a denial is an error with status 200, and answers nothing (threat 91)', async ({
  callers: { as },
  client,
  catalog,
}) => {
  const { handle, taskId, asked, key } = await asking(client, catalog, as('reader'))
  const inputResponses = { [key]: { action: 'accept', content: { approved: true } } }
  const answer = async (rule: string) => {
    const { status, body } = await callOfTask(as(rule), 'tasks/update', { taskId, inputResponses })
    return [status, body.error?.code ?? body.result.resultType]
  }

  const denied = [await answer('reader'), await answer('approver')]
  const stillAsked = await asked()
  const accepted = await answer('answerer')

  expect(denied).toEqual([
    [200, -32_602],
    [200, -32_602],
  ])
  expect([stillAsked, accepted]).toEqual([[key], [200, 'complete']])
  expect(await handle.result()).toEqual({ approved: true })
})

test('an answer is recorded once, and who answers otherwise gets an error, whoever it is (threat 92)', async ({
  callers: { as, operator },
  client,
  catalog,
}) => {
  const { handle, taskId, key } = await asking(client, catalog, operator)
  const answer = async (rule: string, approved: boolean) => {
    const inputResponses = { [key]: { action: 'accept', content: { approved } } }
    const { body } = await callOfTask(as(rule), 'tasks/update', { taskId, inputResponses })
    return body.error?.data.name ?? body.result.resultType
  }

  // Paused, so that the question stays open.
  await operator.post(`${handle.workflowId}/pause`)
  const answers = [
    await answer('answerer', true),
    await answer('colleague', false),
    await answer('answerer', false),
    await answer('colleague', true),
  ]
  const { events } = await handle.fetchHistory()
  await operator.post(`${handle.workflowId}/unpause`)
  const result = await handle.result()
  const late = [await answer('answerer', true), await answer('colleague', false)]

  expect(answers).toEqual(['complete', 'QuestionAnsweredError', 'QuestionAnsweredError', 'complete'])
  expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1)
  expect([result, late]).toEqual([{ approved: true }, ['complete', 'QuestionAnsweredError']])
})
