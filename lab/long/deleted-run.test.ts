import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { getTask, taskIdOf } from '../../src/service/fronts/mcp/tasks/tasks.ts'
import { call } from '../../test/conformance/engine/engine-fixture.ts'
import { test } from '../../test/support/fixtures.ts'
import { inProcessWorkflows } from '../../test/support/in-process-workflows.ts'
import { whenInTime } from './when-in-time.ts'

// The engine takes about 35 s to delete a run.
test('result: a run that the engine has deleted is an error, although its result was read before', async ({
  service,
  connection,
}) => {
  const { body: ran } = await whenInTime('the run ends', () => service.run('echo', 1))
  const workflowExecution = { workflowId: ran.workflowId, runId: ran.runId }
  const read = (path: string) => whenInTime('the result is read', () => service.get(`${ran.workflowId}/${path}`))
  const latest = () => read('result')
  const pinned = () => read(`runs/${ran.runId}/result`)
  const before = [await latest(), await pinned(), await latest(), await pinned()].map(({ status }) => status)
  await connection.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution })

  const isGone = async () => {
    const answer = await latest()
    return answer.status === 404 && answer
  }
  const gone = await until('the run is deleted', isGone, { timeoutMs: 180_000, everyMs: 1000 })
  const alsoGone = await pinned()

  expect(before).toEqual([200, 200, 200, 200])
  const facts = [gone.body.error, alsoGone.status, alsoGone.body.error]
  expect(facts).toEqual(['WorkflowNotFoundError', 404, 'WorkflowNotFoundError'])
})

test('a task: its chain continues, although the engine has deleted the first run', async ({
  engine,
  catalog,
  service,
  connection,
  cleanup,
}) => {
  const { workflows, close } = inProcessWorkflows({ address: engine.address, catalog })
  cleanup.defer(close)
  const { body: run } = await service.start('chainOnSignal', 1)
  const { workflowId, runId } = run
  const get = () => getTask(workflows, taskIdOf(run), ({ result }) => ({ output: result.output }), call())
  await service.post(`${workflowId}/signal/next`)
  const latest = () => service.get(`${workflowId}/status`)
  await until('it has continued', async () => (await latest()).body.runId !== runId)
  const before = await get()
  await connection.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
  })

  const isGone = async () => (await service.get(`${workflowId}/runs/${runId}/status`)).status === 404
  await until('the first run is deleted', isGone, { timeoutMs: 180_000, everyMs: 1000 })
  const after = await get()
  await service.post(`${workflowId}/signal/finish`)
  const ended = await until('the task is completed', async () => {
    const task = await get()
    return task.status === 'completed' && task
  })

  expect([before.status, after.status, after.createdAt]).toEqual(['working', 'working', before.createdAt])
  expect(ended).toMatchObject({ result: { output: 2 } })
})
