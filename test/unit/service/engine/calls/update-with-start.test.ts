import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startUpdateWithStart, updateWithStart } from '../../../../../src/service/engine/calls/update-with-start.ts'
import type { EngineContext } from '../../../../../src/service/engine/context.ts'
import type { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall, rejection } from '../../../call.ts'
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
const COMPLETED = 2

const HOUR_MS = 3_600_000

async function send(context: EngineContext, call = aCall()) {
  const sending = updateWithStart(context, REQUEST, { name: 'set', args: ['a'] }, 'the-update', call)
  sending.catch(() => {}) // awaited below
  await vi.advanceTimersByTimeAsync(2900)
  return sending
}
const methods = (sent: Sent[]) => sent.map(({ method, runId }) => (runId === '' ? method : `${method} ${runId}`))

test('update-with-start: polls an update that the engine has admitted without an outcome, on the same run', async () => {
  const admitted = { responses: [{ startWorkflow: { runId: 'r', started: true } }, { updateWorkflow: { stage: 1 } }] }
  const { context, sent } = scriptedContext(admitted, LIMITED, outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'updateWorkflowExecution r', 'updateWorkflowExecution r'])
  expect(new Set(sent.map(({ updateId }) => updateId))).toEqual(new Set(['the-update']))
})

test('startUpdateWithStart: the engine responds once the update is accepted, and is called again until then', async () => {
  const [ADMITTED, ACCEPTED] = [1, 2]
  const started = { startWorkflow: { runId: 'r', started: true } }
  const admitted = { responses: [started, { updateWorkflow: { stage: ADMITTED } }] }
  const { context, sent } = scriptedContext(admitted, { stage: ACCEPTED })

  const sending = startUpdateWithStart(context, REQUEST, { name: 'set', args: ['a'] }, 'the-update', aCall())
  await vi.advanceTimersByTimeAsync(2900)

  expect(await sending).toEqual({ workflowId: 'w', runId: 'r', updateId: 'the-update', started: true })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'updateWorkflowExecution r'])
  expect(sent.map(({ stage }) => stage)).toEqual([ACCEPTED, ACCEPTED])
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

test('update-with-start: after a lost response it has started the run before the latest one, if that has its ids', async () => {
  const own = startedByRequest({ runId: 'own', status: COMPLETED })
  const listed = { executions: [{ execution: { runId: 'other' } }, { execution: { runId: 'own' } }] }
  const findOwn = [NOT_FOUND, { history: { events: [] } }, listed, {}, own]
  const { context } = scriptedContext(LOST, described({ runId: 'other' }), ...findOwn, outcome('own'))

  expect(await send(context)).toEqual({ workflowId: 'w', runId: 'own', started: true, result: 'done' })
})

test('update-with-start: after a lost response no run counts as earlier that has started after the latest one', async () => {
  const own = startedByRequest({ runId: 'own', status: COMPLETED })
  const [past, future] = [-HOUR_MS, HOUR_MS].map((ms) => ({ seconds: Math.floor((Date.now() + ms) / 1000), nanos: 0 }))
  const newer = { execution: { runId: 'newer' }, startTime: future }
  const listed = {
    executions: [newer, { execution: { runId: 'other' } }, { execution: { runId: 'own' }, startTime: past }],
  }
  const findOwn = [NOT_FOUND, { history: { events: [] } }, listed, {}, own]
  const { context } = scriptedContext(LOST, described({ runId: 'other' }), ...findOwn, outcome('own'))

  expect(await send(context)).toMatchObject({ runId: 'own', started: true })
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
