import { describe, expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../../src/protocol/run-ref.ts'
import type { TraceEntry } from '../../../src/protocol/trace/entry.ts'
import { call, engineFixture, type MakeTransport, refusal, UNANSWERED_MS } from './engine-fixture.ts'

/** Runs whose workflow task fails in the worker. */
export function describeFailingTask(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: failing workflow tasks`, () => {
    const fixture = engineFixture(makeTransport)

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
      expect(problem.since?.getTime()).toBeGreaterThanOrEqual(failed?.at ?? Number.POSITIVE_INFINITY)
      expect(failed?.error).toEqual({ name: 'Error', message: problem.message, cause: null })
    })

    test('describe: a waiting run and a closed run have no failing task', async () => {
      const [waiting, ended] = await Promise.all([fixture.start('messages'), fixture.start('nothing')])
      await Promise.all([fixture.engine.query(waiting, { name: 'state', args: [] }, call()), fixture.closed(ended)])

      const described = await Promise.all([waiting, ended].map((run) => fixture.engine.describe(run, call())))
      await fixture.engine.terminate(waiting, null, call())

      expect(described.map(({ failingTask }) => failingTask)).toEqual([undefined, undefined])
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

    test('query: a timeout reports the failing workflow task and the run', async () => {
      const { workflowId, runId } = await fixture.start('failTask')
      await untilFailing(workflowId)

      const refused = await refusal(
        fixture.engine.query({ workflowId }, { name: 'state', args: [] }, call(UNANSWERED_MS)),
      )
      await fixture.engine.terminate({ workflowId, runId }, null, call())

      expect(refused).toMatchObject({
        error: 'DeadlineExceededError',
        workflowId,
        runId,
        message: expect.stringMatching(
          /; its workflow task is failing \(attempt 2\); the worker reported: a bug in the workflow$/,
        ),
        problem: { kind: 'workflow_task_failing', attempt: 2, message: 'a bug in the workflow' },
      })
    })
  })
}
