import { expect, test } from 'vitest'
import { type ApiFixture, startDirectly, untilStatus } from './api-fixture.ts'

/** GET result of a run whose result has been read before. */
export function readAgain(api: () => ApiFixture): void {
  const resultOf = (workflowId: string) => api().service.get(`${workflowId}/result`)
  const resultOfRun = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    api().service.get(`${workflowId}/runs/${runId}/result`)

  /** A closed run whose result was read, without and with its run id. */
  async function closedRun(workflowName: string, input: unknown = null) {
    const { body: ran } = await api().service.run(workflowName, input)
    const { workflowId, runId } = ran as { workflowId: string; runId: string }
    const latest = await resultOf(workflowId)
    const pinned = await resultOfRun({ workflowId, runId })
    expect([latest.body, pinned.body]).toEqual([ran, ran])
    return { run: { workflowId, runId }, result: ran }
  }

  test('result: is the same when it is read again', async () => {
    const completed = await closedRun('everyKind', { text: 'ü', list: [1, null] })
    const failed = await closedRun('failAfterRetries')

    for (const { run, result } of [completed, failed])
      expect([(await resultOf(run.workflowId)).body, (await resultOfRun(run)).body]).toEqual([result, result])
    expect(failed.result).toMatchObject({ status: 'failed', errorDetails: { name: 'RangeError' } })
  })

  test('result: a second use of the workflow id has no result of the first', async () => {
    const { run, result } = await closedRun('echo', 1)
    const { firstExecutionRunId: runId } = await startDirectly(api(), 'neverEnds', { workflowId: run.workflowId })

    const open = await resultOf(run.workflowId)
    await api().client.workflow.getHandle(run.workflowId).terminate('enough')
    const terminated = await resultOf(run.workflowId)

    expect([open.status, open.body.runId, open.body.workflowStatus]).toEqual([424, runId, 'running'])
    expect([terminated.body.runId, terminated.body.status]).toEqual([runId, 'terminated'])
    expect((await resultOfRun(run)).body).toEqual(result)
  })

  test('result: of a workflow that was reset is that of the new run', async () => {
    const { run, result } = await closedRun('echo', { again: true })
    await api().service.post(`${run.workflowId}/reset`, { eventId: 1 })
    await untilStatus(api(), run.workflowId, 'completed')
    const { body: latest } = await api().service.get(`${run.workflowId}/status`)

    expect(latest.runId).not.toBe(run.runId)
    expect((await resultOf(run.workflowId)).body).toEqual({ ...result, runId: latest.runId })
    expect((await resultOfRun(run)).body).toEqual(result)
  })

  test('result: of a run is only found under its own workflow id', async () => {
    const { run } = await closedRun('echo', 1)
    const { run: other } = await closedRun('echo', 2)

    const { status, body } = await resultOfRun({ workflowId: other.workflowId, runId: run.runId })

    expect([status, body.error]).toEqual([404, 'WorkflowNotFoundError'])
  })
}
