import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type InProcessService, test } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

/** One request to each endpoint that both transports support. */
async function requestEach({ call }: InProcessService, client: Client): Promise<void> {
  const ok = async (method: string, path: string, body?: unknown) => {
    const response = await call(method, path, body)
    expect([path, response.status]).toEqual([path, 200])
    return response.body
  }
  const start = async (workflowName: string): Promise<string> =>
    `/workflow/${(await ok('POST', '/workflow/start', { workflowName, input: null })).workflowId}`
  const ran = await ok('POST', '/workflow/run', { workflowName: 'echo', input: 1 })
  const closed = `/workflow/${ran.workflowId}`
  for (const read of ['status', 'input', 'result', 'result', `runs/${ran.runId}/result`, 'trace-log'])
    await ok('GET', `${closed}/${read}`)
  const open = await start('messages')
  // First: a query before the first workflow task has completed would fail.
  await ok('POST', `${open}/update/set`, { payload: 1 })
  await ok('POST', `${open}/query/state`)
  // While no workflow task is pending, for which a pause waits.
  await ok('POST', `${open}/pause`)
  await ok('POST', `${open}/unpause`)
  await ok('POST', `${open}/signal/add`, { payload: 1 })
  await ok('POST', '/workflow/signal-with-start/finish', { workflowName: 'messages', input: null })
  const { workflowId } = await ok('POST', '/workflow/start', {
    workflowName: 'completesOutside',
    input: { ids: ['a'] },
  })
  // The engine completes an activity that no worker has taken, and rejects other reports.
  await until('the activity is scheduled', async () => {
    const events = (await client.workflow.getHandle(workflowId).fetchHistory()).events ?? []
    return events.some((event) => event.activityTaskScheduledEventAttributes)
  })
  await ok('POST', `/workflow/${workflowId}/activities/a/complete`, { output: 1 })
  await ok('POST', `${closed}/reset`, { eventId: 1 })
  await ok('PATCH', `${open}/stop`)
  await ok('POST', `${await start('neverEnds')}/terminate`)
  await ok('GET', '/workflow/catalog')
  await ok('GET', '/workflow/runs')
  await ok('GET', '/workflow/runs/count')
}

test('every endpoint makes the same engine calls over gRPC and over Temporal’s HTTP API', async ({
  client,
  faultProxy,
  serve,
  startWorker,
}) => {
  await startWorker({ catalog: testCatalog })
  const transports = [
    { ENGINE_ADDRESS: faultProxy.address },
    { ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: faultProxy.httpUrl ?? '' },
  ]
  const counts = []
  for (const transport of transports) {
    const service = serve({ SERVICE_CATALOG_TTL: '10m', ...transport })
    await service.post('run', { workflowName: 'echo', input: 'warm' })
    counts.push(await faultProxy.calls.during(() => requestEach(service, client)))
    await service.close()
  }

  expect(counts[1]).toEqual(counts[0])
  expect(counts[0]).toEqual({
    StartWorkflowExecution: 4,
    PollWorkflowExecutionHistory: 1,
    // Of status, input, the second result, trace-log, pause, unpause, complete, reset, stop and terminate.
    DescribeWorkflowExecution: 10,
    RespondActivityTaskCompletedById: 1,
    // Of input, the first result, trace-log and reset.
    GetWorkflowExecutionHistory: 4,
    PauseWorkflowExecution: 1,
    UnpauseWorkflowExecution: 1,
    ResetWorkflowExecution: 1,
    QueryWorkflow: 1,
    SignalWorkflowExecution: 1,
    SignalWithStartWorkflowExecution: 1,
    UpdateWorkflowExecution: 1,
    RequestCancelWorkflowExecution: 1,
    TerminateWorkflowExecution: 1,
    ListWorkflowExecutions: 1,
    CountWorkflowExecutions: 1,
  })
})
