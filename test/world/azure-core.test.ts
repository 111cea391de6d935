/** azure-core polls the `Location` of a 202, and repeats each request whose error has a `Retry-After`. */
import { expect } from 'vitest'
import { markedRun, test } from './fixtures.ts'
import { runPython } from './programs.ts'

const AZURE_CORE = {
  name: 'azure-core',
  version: '1.41.0',
  project: 'azure-core',
  module: 'azure.core',
  requirements: 'azure-core.requirements.txt',
}

test('azure-core: its poller of long-running operations gets the result of a run', async ({ counted, runsOf }) => {
  const workflowId = crypto.randomUUID()
  const { mark, body } = markedRun({ workflowId, workflowName: 'waitForSignal' })
  counted.takeRequests()

  const polling = runPython('azure_poller.py', AZURE_CORE, [counted.url, body])
  await counted.untilRequested(3, polling)
  await counted.first.post(`${workflowId}/signal/finish`, { payload: 'done' })
  const { initial, result } = await polling

  const requests = counted.takeRequests().map(({ line }) => line)
  expect([initial, result]).toEqual([202, expect.objectContaining({ status: 'completed', output: ['done'] })])
  expect([requests[0], ...new Set(requests.slice(1))]).toEqual([
    'POST /workflow/run',
    `GET /workflow/${workflowId}/result?pending=202`,
  ])
  expect(await runsOf(mark)).toEqual([workflowId])
})

test('azure-core: a run that takes longer than its timeout is sent and started once (threat 108)', async ({
  counted,
  runsOf,
}) => {
  const { mark, body } = markedRun()
  counted.takeRequests()

  const { status } = await runPython('azure_request.py', AZURE_CORE, [counted.url, body])

  const requests = counted.takeRequests().map(({ line }) => line)
  expect([requests, (await runsOf(mark)).length, status]).toEqual([['POST /workflow/run'], 1, 424])
})
