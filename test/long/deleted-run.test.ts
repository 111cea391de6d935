import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../support/fixtures.ts'
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
