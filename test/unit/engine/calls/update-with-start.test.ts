import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SHUTTING_DOWN } from '../../../../src/domain/model/call.ts'
import { updateWithStart } from '../../../../src/engine/calls/update-with-start.ts'
import type { EngineContext } from '../../../../src/engine/context.ts'
import type { RpcError } from '../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'
import { aCall, rejection } from '../../call.ts'
import { answer, detail, LIMITED, LOST, UNSENT } from '../rpc-errors.ts'
import {
  described,
  done,
  outcome,
  type Sent,
  scriptedContext,
  startedByRequest,
  updateRejected,
} from './scripted-context.ts'

const REQUEST = { workflowId: 'w', workflowName: 'order', catalog: 'orders', args: ['in'] }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const NOT_FOUND = answer(GrpcCode.NOT_FOUND, 'workflow not found for ID: w', detail('NotFoundFailure'))
const LATE = answer(GrpcCode.DEADLINE_EXCEEDED, 'deadline exceeded')
const NOT_READY = answer(
  GrpcCode.FAILED_PRECONDITION,
  'Unable to perform workflow execution update due to unexpected workflow task failure.',
  detail('WorkflowNotReadyFailure'),
)
const COMPLETED = 2

const HOUR_MS = 3_600_000

async function send(context: EngineContext, call = aCall()) {
  const sending = updateWithStart(context, REQUEST, { name: 'set', args: ['a'] }, 'the-update', call)
  sending.catch(() => {}) // awaited below
  await vi.advanceTimersByTimeAsync(2900)
  return sending
}
const methods = (sent: Sent[]) => sent.map(({ method, runId }) => (runId === '' ? method : `${method} ${runId}`))

test('update-with-start: sends one call if it succeeds', async () => {
  const { context, sent } = scriptedContext(done('r', true))

  expect(await send(context)).toEqual({ workflowId: 'w', runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation'])
})

test('update-with-start: polls an update that the engine has admitted without an outcome, on the same run', async () => {
  const admitted = { responses: [{ startWorkflow: { runId: 'r', started: true } }, { updateWorkflow: { stage: 1 } }] }
  const { context, sent } = scriptedContext(admitted, LIMITED, outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'updateWorkflowExecution r', 'updateWorkflowExecution r'])
  expect(new Set(sent.map(({ updateId }) => updateId))).toEqual(new Set(['the-update']))
})

test('update-with-start: the size limit holds for all payloads together, and nothing is sent beyond it', async () => {
  const { context, sent } = scriptedContext()
  const half = 'x'.repeat(500)

  const sending = updateWithStart(context, { ...REQUEST, args: [half] }, { name: 'set', args: [half] }, 'u', aCall())

  expect((await rejection(sending)).error).toBe('PayloadTooLargeError')
  expect(sent).toEqual([])
})

test('update-with-start: after a lost response it is sent again with the same ids if there is no run', async () => {
  const { context, sent } = scriptedContext(LOST, NOT_FOUND, done('r', true))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'executeMultiOperation'])
  expect([sent[2]?.requestId, sent[2]?.updateId]).toEqual([sent[0]?.requestId, 'the-update'])
})

test('update-with-start: after a lost response it polls the run that it has started', async () => {
  const { context, sent } = scriptedContext(LOST, startedByRequest({ runId: 'r', status: COMPLETED }), outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r'])
})

test('update-with-start: after a lost response it polls the first run of the chain that it has started', async () => {
  const polled = async (lost: RpcError) => {
    const { context, sent } = scriptedContext(
      lost,
      described({ runId: 'r2', firstRunId: 'r1' }),
      startedByRequest({ runId: 'r1', status: COMPLETED }),
      outcome('r1'),
    )
    return { ...(await send(context)), last: methods(sent).at(-1) }
  }

  const begun = { workflowId: 'w', runId: 'r1', started: true, result: 'done', last: 'updateWorkflowExecution r1' }
  expect(await polled(LOST)).toEqual(begun)
  // The start succeeded, and the response to the update is lost.
  expect(await polled(updateRejected(LOST))).toEqual(begun)
})

test('update-with-start: after a lost response it polls a run that is older than the request', async () => {
  const { context, sent } = scriptedContext(LOST, described({ runId: 'r', sinceMs: HOUR_MS }), outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: false, result: 'done' })
  expect(methods(sent).at(-1)).toBe('updateWorkflowExecution r')
})

test('update-with-start: after a lost response it is sent again if the latest run ended before the request', async () => {
  const { context, sent } = scriptedContext(
    LOST,
    described({ runId: 'old', status: COMPLETED, sinceMs: HOUR_MS }),
    done('r', true),
  )

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
  expect(methods(sent).at(-1)).toBe('executeMultiOperation')
})

test('update-with-start: after a lost response it fails with the ids if another client has started a newer run', async () => {
  // Neither run has the update, and no run is before it.
  const unknown = [NOT_FOUND, { history: { events: [] } }, { executions: [] }]
  const open = scriptedContext(LOST, described({ runId: 'other' }), ...unknown)
  const closed = scriptedContext(LOST, described({ runId: 'other', status: COMPLETED }), ...unknown)

  const rejections = [await rejection(send(open.context)), await rejection(send(closed.context))]

  for (const rejected of rejections) {
    expect(rejected).toMatchObject({ error: 'EngineUnavailableError', workflowId: 'w', updateId: 'the-update' })
    expect(rejected).not.toHaveProperty('retryAfterSeconds')
  }
  expect([...open.sent, ...closed.sent].filter(({ method }) => method === 'executeMultiOperation').length).toBe(2)
})

test('update-with-start: reports that it has started the run, whichever attempt did', async () => {
  const { context } = scriptedContext(LOST, NOT_FOUND, done('r', false), startedByRequest({ runId: 'r' }))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
})

test('update-with-start: an error names the run if it stays unknown which request has started it', async () => {
  const { context } = scriptedContext(LOST, NOT_FOUND, done('r', false), LIMITED)

  const rejected = await rejection(send(context))

  expect(rejected).toMatchObject({
    error: 'ResourceExhaustedError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
  })
  expect(rejected).not.toHaveProperty('retryAfterSeconds')
})

test('update-with-start: a run that closes before it receives the update is not running', async () => {
  const { context } = scriptedContext(NOT_FOUND, described({ runId: 'r', status: COMPLETED }))

  expect(await rejection(send(context))).toMatchObject({
    error: 'WorkflowNotRunningError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
    workflowStatus: 'completed',
  })
})

test('update-with-start: follows a run that continues as new before it receives the update, without a second start', async () => {
  const { context, sent } = scriptedContext(NOT_FOUND, described({ runId: 'r2' }), outcome('r2'))

  expect(await send(context)).toMatchObject({ runId: 'r2', started: false, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r2'])
})

test('update-with-start: if only the update was rejected, it is sent to the started run, and the error names that run', async () => {
  const { context, sent } = scriptedContext(updateRejected(NOT_READY), startedByRequest({ runId: 'r' }), NOT_READY)

  expect(await rejection(send(context))).toMatchObject({
    error: 'WorkflowNotReadyError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
  })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r'])
})

test('update-with-start: a timeout names a run that may have received the update, not one that was closed before', async () => {
  const open = scriptedContext(LATE, described({ runId: 'r' }))
  const ours = scriptedContext(LATE, startedByRequest({ runId: 'r', status: COMPLETED }))
  const part = scriptedContext(updateRejected(LATE), described({ runId: 'r' }))
  const before = scriptedContext(LATE, described({ runId: 'old', status: COMPLETED }))

  const rejections = await Promise.all([open, ours, part, before].map(({ context }) => rejection(send(context))))

  expect(rejections.map(({ error, runId, updateId }) => [error, runId, updateId])).toEqual([
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', undefined, 'the-update'],
  ])
})

test('update-with-start: a timeout at shutdown names the run', async () => {
  const stopping = new AbortController()
  const call = aCall({ signal: stopping.signal })
  const { context } = scriptedContext(
    () => {
      stopping.abort(SHUTTING_DOWN)
      return LATE
    },
    described({ runId: 'r' }),
  )

  const { error, runId } = await rejection(send(context, call))

  expect([error, runId, call.notes]).toEqual(['DeadlineExceededError', 'r', {}])
})

test('update-with-start: logs why the run could not be read after a timeout', async () => {
  const call = aCall()

  const { error, runId, updateId } = await rejection(send(scriptedContext(LATE).context, call))

  expect([error, runId, updateId]).toEqual(['DeadlineExceededError', undefined, 'the-update'])
  expect(call.notes).toMatchObject({ runUnread: { error: 'EngineUnavailableError' } })
})

test('update-with-start: has Retry-After only if nothing can have been carried out', async () => {
  const contexts = [
    scriptedContext(UNSENT),
    scriptedContext(LIMITED),
    scriptedContext(LOST, NOT_FOUND, LIMITED),
    scriptedContext(LOST, LIMITED),
    scriptedContext(LOST, NOT_FOUND, LOST, NOT_FOUND, LOST),
  ]

  const rejections = await Promise.all(contexts.map(({ context }) => rejection(send(context))))

  expect(rejections.map(({ error, retryAfterSeconds, updateId }) => [error, retryAfterSeconds, updateId])).toEqual([
    ['EngineUnavailableError', 1, 'the-update'],
    ['ResourceExhaustedError', 1, 'the-update'],
    ['ResourceExhaustedError', undefined, 'the-update'],
    ['ResourceExhaustedError', undefined, 'the-update'],
    ['EngineUnavailableError', undefined, 'the-update'],
  ])
})

test('update-with-start: an internal error carries the ids', async () => {
  const { context } = scriptedContext({ responses: [] })

  const rejected = await rejection(send(context))
  expect(rejected).toMatchObject({ error: 'InternalError', workflowId: 'w', updateId: 'the-update' })
})
