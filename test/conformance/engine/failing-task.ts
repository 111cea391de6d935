import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import type { TraceEntry } from '../../../src/shared/wire/trace/entry.ts'
import { call, type EngineFixture } from './engine-fixture.ts'

/** Runs whose workflow task fails in the worker. */
export function failingTask(fixture: EngineFixture): void {
  function untilFailing(workflowId: string) {
    return until(
      'its task has failed',
      async () => (await fixture.engine.describe({ workflowId }, call())).failingTask ?? null,
    )
  }

  async function entriesOf(run: RunRef): Promise<TraceEntry[]> {
    const entries: TraceEntry[] = []
    for await (const entry of fixture.engine.readEntries(run, call())) entries.push(entry)
    return entries
  }

  test('describe: reports a failing workflow task since its first failure, with the message of the last one', async () => {
    const { workflowId, runId } = await fixture.start('failTaskWithPath')
    const task = await untilFailing(workflowId)

    const problem = await task.problem(call())
    const entries = await entriesOf({ workflowId, runId })
    await fixture.engine.terminate({ workflowId, runId }, null, call())

    const failed = entries.find(({ kind }) => kind === 'workflow_task')
    expect(problem).toEqual({
      kind: 'workflow_task_failing',
      attempt: task.attempt,
      since: expect.any(Date),
      message: "can't read '<path>' of <worker>: connect ECONNREFUSED <address>",
    })
    expect(problem?.since?.getTime()).toBeGreaterThanOrEqual(failed?.at ?? Number.POSITIVE_INFINITY)
    expect(failed?.error).toEqual({ name: 'Error', message: problem?.message, cause: null })
  })

  test('describe: a reset does not count as a failing task', async () => {
    const { workflowId, runId } = await fixture.start('messages')
    await fixture.engine.query({ workflowId, runId }, { name: 'state', args: [] }, call())
    const { runId: resetRunId } = await fixture.connection.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: { low: 4, high: 0, unsigned: false } as never,
      requestId: crypto.randomUUID(),
      reason: 'a test',
    })
    const run = { workflowId, runId: resetRunId }
    await fixture.engine.query(run, { name: 'state', args: [] }, call())

    const { failingTask } = await fixture.engine.describe(run, call())
    const entries = await entriesOf(run)
    await fixture.engine.terminate(run, null, call())

    expect(failingTask).toBeUndefined()
    expect(entries.map(({ kind }) => kind)).not.toContain('workflow_task')
  })
}
