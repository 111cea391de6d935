import { expect, test } from 'vitest'
import { withProblem } from '../../../../../../src/service/engine/calls/diagnosis/with-problem.ts'
import { type Call, SHUTTING_DOWN } from '../../../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../../../src/service/model/errors.ts'
import { aCall, rejection } from '../../../../call.ts'
import { described, scriptedContext } from '../scripted-context.ts'

const LATE = new ServiceError('DeadlineExceededError', 'No worker responded', { details: { workflowId: 'w' } })

/** The error about a late worker, and how long the service reads the run for it. */
async function explained(signal: AbortSignal) {
  const { context } = scriptedContext()
  const readsMs: number[] = []
  const rpc = async (_method: string, _request: object, call: Call) => {
    readsMs.push(call.deadlineAt - Date.now())
    return described({ runId: 'r' })
  }
  const act = () => Promise.reject(LATE)
  const error = await rejection(
    withProblem({ ...context, rpc: rpc as never }, { workflowId: 'w' }, aCall({ signal }), act),
  )
  return { error, readsMs }
}

test('withProblem: reads the run in the second that the process has left at shutdown', async () => {
  const { error, readsMs } = await explained(AbortSignal.abort(SHUTTING_DOWN))

  expect(error.runId).toBe('r')
  expect(Math.max(...readsMs)).toBeLessThan(500)
})

test('withProblem: reads nothing for a client that has left', async () => {
  const { error, readsMs } = await explained(AbortSignal.abort())

  expect([error.runId, readsMs]).toEqual([undefined, []])
})

test('withProblem: logs why the run could not be read', async () => {
  const unread = new Error('too late')
  const call = aCall()

  const error = await rejection(
    withProblem(scriptedContext(unread).context, { workflowId: 'w' }, call, () => Promise.reject(LATE)),
  )

  expect([error.error, error.runId, call.notes]).toEqual(['DeadlineExceededError', undefined, { runUnread: unread }])
})
