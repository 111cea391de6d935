import Long from 'long'
import { describe, expect, test } from 'vitest'
import { call, engineFixture, type MakeTransport } from './engine-fixture.ts'

/** The outcomes of runs that fail, time out, or are canceled or terminated. */
export function describeFailures(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: failures`, () => {
    const fixture = engineFixture(makeTransport)
    const outcomeOf = async (workflow: string) => (await fixture.closed(await fixture.start(workflow))).outcome

    test('failure: returns the user’s error with its causes, without stacks', async () => {
      expect(await outcomeOf('failWithCauses')).toEqual({
        status: 'failed',
        error: {
          message: 'the outer failure',
          name: 'Outer',
          retryable: false,
          activityId: null,
          cause: {
            name: 'Middle',
            message: 'in the middle',
            cause: { name: 'Error', message: 'the root cause', cause: null },
          },
        },
      })
    })

    test('failure: the error of an activity has the id of the activity', async () => {
      expect(await outcomeOf('failInActivity')).toMatchObject({
        error: {
          name: 'BadInput',
          message: 'no retry please',
          retryable: false,
          activityId: '1',
          cause: { message: 'the cause below' },
        },
      })
    })

    test('failure: an activity without retries left keeps the class of its error as the name, and is retryable', async () => {
      expect(await outcomeOf('failAfterRetries')).toMatchObject({
        error: { name: 'RangeError', message: 'always out of range', retryable: true, activityId: '1' },
      })
    })

    test('failure: the timeout of an activity is TimeoutFailure', async () => {
      expect(await outcomeOf('failInActivityTimeout')).toMatchObject({
        error: { name: 'TimeoutFailure', activityId: '1', retryable: true },
      })
    })

    test('failure: an error that wraps the error of an activity is returned itself', async () => {
      expect(await outcomeOf('failWrapped')).toMatchObject({
        error: {
          name: 'Outer',
          message: 'could not go on',
          activityId: null,
          cause: { name: 'ActivityFailure', cause: { name: 'BadInput' } },
        },
      })
    })

    test('failure: an activity error rethrown as an application failure is that of the activity, in a child too', async () => {
      const error = { name: 'BadInput', message: 'no retry please', retryable: false, activityId: '1' }

      expect(await outcomeOf('failRethrown')).toMatchObject({ status: 'failed', error })
      expect(await outcomeOf('failRethrownByParent')).toMatchObject({ status: 'failed', error })
    })

    test('failure: the error of a child is the child’s own', async () => {
      expect(await outcomeOf('failInChild')).toMatchObject({
        error: { name: 'Outer', message: 'the outer failure', activityId: null },
      })
    })

    test('failure: a cancellation without a cancel request is a failure', async () => {
      expect(await outcomeOf('failCancelledUnasked')).toMatchObject({
        status: 'failed',
        error: { name: 'CanceledFailure', message: 'nobody asked', retryable: false },
      })
    })

    test('terminated: has the reason', async () => {
      const started = await fixture.start('neverEnds')

      await fixture.engine.terminate(started, 'enough is enough', call())

      expect((await fixture.closed(started)).outcome).toEqual({
        status: 'terminated',
        error: {
          name: 'TerminatedFailure',
          message: 'The workflow was terminated: enough is enough',
          retryable: false,
          activityId: null,
          cause: null,
        },
      })
    })

    test('timed out: a run that exceeds its run timeout is timed_out', async () => {
      const workflowId = crypto.randomUUID()
      const { runId } = await fixture.connection.workflowService.startWorkflowExecution({
        namespace: 'default',
        workflowId,
        workflowType: { name: 'neverEnds' },
        taskQueue: { name: fixture.taskQueue },
        requestId: crypto.randomUUID(),
        workflowRunTimeout: { seconds: Long.ONE },
      })

      expect((await fixture.closed({ workflowId, runId })).outcome).toMatchObject({
        status: 'timed_out',
        error: { name: 'TimeoutFailure', message: 'The workflow timed out', retryable: true },
      })
    })

    test('cancel: a workflow that handles the cancellation and returns is completed', async () => {
      const started = await fixture.start('catchesCancel')
      await fixture.engine.cancel(started, { reason: null, pinned: true }, call())

      expect((await fixture.closed(started)).outcome).toMatchObject({ status: 'completed' })
    })
  })
}
