/** Chains that continue as a workflow that the caller may not read: threats 16 and 22 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { taskIdOf } from '../../../src/service/fronts/mcp/tasks/tasks.ts'
import type { Api } from '../../support/api.ts'
import { callOfTask, notificationOf } from '../../support/call-of-task.ts'
import { testWithCallers, tokenOf, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('typed', { can: ['start', 'read', 'signal', 'stop'], ids: ['c:*'], workflows: ['becomes', 'echo'] }),
]

const test = testWithCallers(RULES)

/** A run of `becomes` that has continued as the workflow. */
async function continued(operator: Api, workflowType: string, input: unknown) {
  const workflowId = `c:${crypto.randomUUID()}`
  const { runId } = (await operator.start('becomes', { workflowType, input }, { workflowId })).body
  await operator.post(`${workflowId}/signal/continueAsNew`)
  const last = await until('the workflow has continued', async () => {
    const { body } = await operator.get(`${workflowId}/status`)
    return body.runId !== runId && body.workflowName === workflowType ? body.runId : null
  })
  return { workflowId, runId: String(runId), last: String(last) }
}

test('a stream ends before the run of another workflow, as events and as JSON (threat 16)', async ({
  callers: { as, operator },
}) => {
  const { workflowId, runId, last } = await continued(operator, 'streamSignals', {})
  await operator.post(`${workflowId}/stream`, { topic: 'hidden', data: 'secret' })
  const from = `from=${runId}@0`

  const json = await as('typed').get(`${workflowId}/stream?${from}`, { Accept: 'application/json' })
  const events = await as('typed').get(`${workflowId}/stream?${from}`)
  const token = (await operator.call('POST', '/tokens', { can: ['read'], workflows: ['becomes'] })).body.token
  const ofToken = await as('', token).get(`${workflowId}/stream?${from}`)
  await operator.post(`${workflowId}/signal/finish`)
  const whole = await operator.get(`${workflowId}/stream?${from}`)

  expect(json.body).toMatchObject({ runId, next: null, done: { status: 'continued' } })
  for (const { text } of [events, ofToken]) {
    expect(text).toContain('event: done')
    expect(text).not.toMatch(/secret|event: continued/)
    expect(text).not.toContain(last)
  }
  expect(whole.text).toContain('secret')
})

test('a task ends with the last run that its caller may read, and cancels no other (threat 16)', async ({
  callers: { as, operator, service },
  client,
}) => {
  const run = await continued(operator, 'messages', 'secret')
  const ofTask = async (api: Api, method: string) => {
    const { body } = await callOfTask(api, method, { taskId: taskIdOf(run) })
    return body.result ?? body.error
  }

  const task = await ofTask(as('typed'), 'tasks/get')
  const canceled = await ofTask(as('typed'), 'tasks/cancel')
  const headers = { Authorization: `Bearer ${tokenOf('typed')}` }
  const notified = await notificationOf({ fetch: service.fetch, headers }, taskIdOf(run))
  const { events } = await client.workflow.getHandle(run.workflowId).fetchHistory()

  expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { status: 'continued' } } })
  expect(notified).toMatch(/"notifications\/tasks".*"structuredContent":\{[^}]*"status":"continued"/)
  expect(JSON.stringify([task, canceled, notified])).not.toContain(run.last)
  expect(events?.filter((event) => event.workflowExecutionCancelRequestedEventAttributes)).toEqual([])
  await operator.post(`${run.workflowId}/terminate`)
})

test('a wait returns the output of the chain, without the input of a workflow that the caller may not read (threat 16)', async ({
  callers: { as, operator },
}) => {
  const run = async (workflowType: string) => {
    const workflowId = `c:${crypto.randomUUID()}`
    const input = { workflowType, input: `input of ${workflowType}` }
    const running = as('typed').run('becomes', input, { workflowId, timeout: '20s' })
    await until('it has started', async () => (await operator.get(`${workflowId}/status`)).status === 200)
    await operator.post(`${workflowId}/signal/continueAsNew`)
    return (await running).body
  }

  expect(await run('echo')).toMatchObject({ input: 'input of echo', output: 'input of echo' })
  expect(await run('several')).toMatchObject({ status: 'completed', input: null, output: ['input of several'] })
})

test('an open stream follows no chain into a workflow that only the policy before allowed (threat 107)', async ({
  startCallers,
}) => {
  const { as, operator, policyOf, service } = await startCallers()
  const allow = (...workflows: string[]) =>
    service.setPolicy(policyOf(tokenRule('typed', { can: ['read'], ids: ['c:*'], workflows })))
  allow('becomes', 'streamSignals')
  const workflowId = `c:${crypto.randomUUID()}`
  const input = { workflowType: 'streamSignals', input: {} }
  await operator.start('becomes', input, { workflowId })
  const stream = as('typed').get(`${workflowId}/stream`)
  await until('it has published', async () => {
    const { body } = await operator.get(`${workflowId}/stream`, { Accept: 'application/json' })
    return body.items.length === 1
  })

  allow('becomes')
  await as('typed').call('GET', '/capabilities')
  await operator.post(`${workflowId}/signal/continueAsNew`)
  await until('the workflow has continued', async () => {
    return (await operator.get(`${workflowId}/status`)).body.workflowName === 'streamSignals'
  })
  await operator.post(`${workflowId}/stream`, { topic: 'hidden', data: 'secret' })
  await operator.post(`${workflowId}/signal/finish`)
  const { text } = await stream

  expect(text).toContain('of becomes')
  expect(text).toContain('event: done')
  expect(text).not.toMatch(/secret|event: continued/)
})
