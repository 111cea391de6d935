import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../support/fixtures.ts'

// The engine takes about 35 s to delete a run.
test('result: a run that the engine has deleted is an error, although its result was read before', async ({
  service,
  connection,
}) => {
  const { body: ran } = await service.post('run', { workflowName: 'echo', input: 1 })
  const workflowExecution = { workflowId: ran.workflowId, runId: ran.runId }
  const latest = () => service.get(`${ran.workflowId}/result`)
  const pinned = () => service.get(`${ran.workflowId}/runs/${ran.runId}/result`)
  const before = [await latest(), await pinned(), await latest(), await pinned()].map(({ status }) => status)
  await connection.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution })

  const gone = await until('the run is deleted', async () => (await latest()).status === 404 && latest(), {
    timeoutMs: 180_000,
    everyMs: 1000,
  })
  const alsoGone = await pinned()

  expect(before).toEqual([200, 200, 200, 200])
  expect([gone.body.error, alsoGone.status, alsoGone.body.error]).toEqual([
    'WorkflowNotFoundError',
    404,
    'WorkflowNotFoundError',
  ])
})
