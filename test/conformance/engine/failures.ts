import Long from 'long'
import { describe, expect, test } from 'vitest'
import { call, engineFixture, type MakeTransport } from './engine-fixture.ts'

/** How runs end when they do not end well. */
export function describeFailures(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: failures`, () => {
    const fixture = engineFixture(makeTransport)
    const outcomeOf = async (workflow: string) => (await fixture.closed(await fixture.start(workflow))).outcome

    test('failure: the user’s own, with its causes, without stacks', async () => {
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

    test('failure: of an activity, with the activity’s id', async () => {
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

    test('failure: an activity out of retries keeps its class as its name and may be retried', async () => {
      expect(await outcomeOf('failAfterRetries')).toMatchObject({
        error: { name: 'RangeError', message: 'always out of range', retryable: true, activityId: '1' },
      })
    })

    test('failure: an activity’s timeout', async () => {
      expect(await outcomeOf('failInActivityTimeout')).toMatchObject({
        error: { name: 'TimeoutFailure', activityId: '1', retryable: true },
      })
    })

    test('failure: a user’s failure around an activity’s is the user’s', async () => {
      expect(await outcomeOf('failWrapped')).toMatchObject({
        error: {
          name: 'Outer',
          message: 'could not go on',
          activityId: null,
          cause: { name: 'ActivityFailure', cause: { name: 'BadInput' } },
        },
      })
    })

    test('failure: an activity’s that was rethrown as an application failure is the activity’s own, in a child too', async () => {
      const error = { name: 'BadInput', message: 'no retry please', retryable: false, activityId: '1' }

      expect(await outcomeOf('failRethrown')).toMatchObject({ status: 'failed', error })
      expect(await outcomeOf('failRethrownByParent')).toMatchObject({ status: 'failed', error })
    })

    test('failure: of a child is the child’s own', async () => {
      expect(await outcomeOf('failInChild')).toMatchObject({
        error: { name: 'Outer', message: 'the outer failure', activityId: null },
      })
    })

    test('failure: a cancellation that nobody asked for is a failure', async () => {
      expect(await outcomeOf('failCancelledUnasked')).toMatchObject({
        status: 'failed',
        error: { name: 'CanceledFailure', message: 'nobody asked', retryable: false },
      })
    })

    test('terminated: says why', async () => {
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

    test('timed out: by the engine’s run timeout', async () => {
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

    test('cancel: a workflow that catches it and returns is completed', async () => {
      const started = await fixture.start('catchesCancel')
      await fixture.engine.cancel(started, { reason: null, pinned: true }, call())

      expect((await fixture.closed(started)).outcome).toMatchObject({ status: 'completed' })
    })
  })
}
