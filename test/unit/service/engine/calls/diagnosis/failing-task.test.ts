import { expect, test } from 'vitest'
import { describe } from '../../../../../../src/service/engine/calls/describe.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../../call.ts'
import { described, scriptedContext } from '../scripted-context.ts'

const BUG = 14

const failing = { ...described({ runId: 'r' }), pendingWorkflowTask: { attempt: 3 } }
const at = (seconds: number) => ({ eventTime: { seconds, nanos: 0 } })
const failed = (seconds: number, message: string) => ({
  ...at(seconds),
  workflowTaskFailedEventAttributes: {
    cause: BUG,
    failure: { message, stackTrace: 'at /srv/app/x.js', source: 'TypeScriptSDK' },
  },
})
const timedOut = (seconds: number) => ({ ...at(seconds), workflowTaskTimedOutEventAttributes: { timeoutType: 1 } })

async function problem(...answers: object[]) {
  const { context, sent } = scriptedContext(failing, ...answers)
  const { failingTask } = await describe(context, { workflowId: 'w' }, aCall())
  return { problem: await failingTask?.problem(aCall()), sent }
}

const latestFirst = (...events: object[]) => ({ history: { events } })

test('problem: prefers a failure that a worker reported to a later timeout', async () => {
  expect((await problem(latestFirst(timedOut(9), failed(7, 'a bug')))).problem?.message).toBe('a bug')
  expect((await problem(latestFirst(timedOut(9), timedOut(7)))).problem?.message).toBe(
    'the worker did not complete the workflow task in time',
  )
})

test('problem: has the error of the workflow code instead of those with which the Java SDK wraps it', async () => {
  const thrown = { message: 'a bug', applicationFailureInfo: { type: 'java.lang.IllegalStateException' } }
  const state = {
    message:
      'WorkflowTask: failure executing SCHEDULED->WORKFLOW_TASK_STARTED, transition history is [CREATED->WORKFLOW_TASK_SCHEDULED]',
    applicationFailureInfo: { type: 'java.lang.RuntimeException' },
    cause: thrown,
  }
  const task = (cause: object | null) => ({
    message: "Failure handling event 3 of type 'EVENT_TYPE_WORKFLOW_TASK_STARTED' during execution.",
    applicationFailureInfo: { type: 'io.temporal.internal.statemachines.InternalWorkflowTaskException' },
    cause,
  })
  const messageOf = async (failure: object) => {
    const event = { ...at(9), workflowTaskFailedEventAttributes: { cause: BUG, failure } }
    return (await problem(latestFirst(event))).problem?.message
  }

  expect(await messageOf(task(state))).toBe('a bug')
  expect(await messageOf(task(thrown))).toBe('a bug')
  expect(await messageOf(task(null))).toMatch(/^Failure handling event 3/)
  expect(await messageOf({ message: 'a bug of others', cause: thrown })).toBe('a bug of others')
})

test('problem: is null if the engine has closed the task for a reason of its own', async () => {
  const closed = (cause: number) => ({ ...at(9), workflowTaskFailedEventAttributes: { cause } })
  const unstarted = { ...at(9), workflowTaskTimedOutEventAttributes: { timeoutType: 2 } }
  const completed = { ...at(8), workflowTaskCompletedEventAttributes: {} }
  const [FORCE_CLOSE, FAILOVER_CLOSE, RESET_STICKY] = [17, 18, 13]

  for (const event of [closed(FORCE_CLOSE), closed(FAILOVER_CLOSE), closed(RESET_STICKY), unstarted])
    expect((await problem(latestFirst(event, completed, failed(7, 'a bug')))).problem).toBeNull()
  expect((await problem(latestFirst(closed(FORCE_CLOSE), failed(7, 'a bug')))).problem?.message).toBe('a bug')
})

test('problem: is reported without its reason if the history cannot be read', async () => {
  const rejected = new RpcError('no', { code: GrpcCode.RESOURCE_EXHAUSTED })

  expect((await problem(rejected)).problem).toEqual({
    kind: 'workflow_task_failing',
    attempt: 3,
    since: null,
    message: 'the failure could not be read from the workflow history',
  })
})
