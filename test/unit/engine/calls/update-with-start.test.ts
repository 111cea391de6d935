import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { updateWithStart } from '../../../../src/engine/calls/update-with-start.ts'
import type { EngineContext } from '../../../../src/engine/context.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'
import { aCall, refusal } from '../../call.ts'
import { described, done, outcome, type Sent, scriptedContext, updateRefused } from './scripted-context.ts'

const REQUEST = { workflowId: 'w', workflowName: 'order', catalog: 'orders', args: ['in'] }

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const LOST = new RpcError('connection dropped', { code: GrpcCode.UNAVAILABLE })
const UNSENT = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })
const NOT_FOUND = new RpcError('workflow not found for ID: w', {
  code: GrpcCode.NOT_FOUND,
  details: [{ name: 'NotFoundFailure', fields: {} }],
})
const LIMITED = new RpcError('namespace rate limit exceeded', {
  code: GrpcCode.RESOURCE_EXHAUSTED,
  details: [{ name: 'ResourceExhaustedFailure', fields: {} }],
})
const LATE = new RpcError('deadline exceeded', { code: GrpcCode.DEADLINE_EXCEEDED })
const NOT_READY = new RpcError('Unable to perform workflow execution update due to unexpected workflow task failure.', {
  code: GrpcCode.FAILED_PRECONDITION,
  details: [{ name: 'WorkflowNotReadyFailure', fields: {} }],
})
const COMPLETED = 2

const HOUR_MS = 3_600_000

async function send(context: EngineContext) {
  const sending = updateWithStart(context, REQUEST, { name: 'set', args: ['a'] }, 'the-update', aCall())
  sending.catch(() => {}) // told below
  await vi.advanceTimersByTimeAsync(2900)
  return sending
}
const methods = (sent: Sent[]) => sent.map(({ method, runId }) => (runId === '' ? method : `${method} ${runId}`))

test('update-with-start: one call when all is well', async () => {
  const { context, sent } = scriptedContext(done('r', true))

  expect(await send(context)).toEqual({ workflowId: 'w', runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation'])
})

test('update-with-start: what the engine has taken in without an outcome is asked for again on that run', async () => {
  const admitted = { responses: [{ startWorkflow: { runId: 'r', started: true } }, { updateWorkflow: { stage: 1 } }] }
  const { context, sent } = scriptedContext(admitted, LIMITED, outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'updateWorkflowExecution r', 'updateWorkflowExecution r'])
  expect(new Set(sent.map(({ updateId }) => updateId))).toEqual(new Set(['the-update']))
})

test('update-with-start: payloads are weighed together, and nothing is sent when they are too heavy', async () => {
  const { context, sent } = scriptedContext()
  const half = 'x'.repeat(500)

  const asked = updateWithStart(context, { ...REQUEST, args: [half] }, { name: 'set', args: [half] }, 'u', aCall())

  expect((await refusal(asked)).error).toBe('PayloadTooLargeError')
  expect(sent).toEqual([])
})

test('update-with-start: an answer lost, and no such run: it is sent again with the same ids', async () => {
  const { context, sent } = scriptedContext(LOST, NOT_FOUND, done('r', true))

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'executeMultiOperation'])
  expect([sent[2]?.requestId, sent[2]?.updateId]).toEqual([sent[0]?.requestId, 'the-update'])
})

test('update-with-start: an answer lost of a run that it has started: the update is asked for there', async () => {
  let requestId: string | undefined
  const { context, sent } = scriptedContext(
    (first: Sent) => {
      requestId = first.requestId
      return LOST
    },
    () => described({ runId: 'r', status: COMPLETED, ...(requestId && { requestId }) }),
    outcome('r'),
  )

  expect(await send(context)).toMatchObject({ runId: 'r', started: true, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r'])
})

test('update-with-start: an answer lost of a run that has gone on since: the update is asked for where the chain began', async () => {
  const askedFor = async (lost: RpcError) => {
    let requestId: string | undefined
    const { context, sent } = scriptedContext(
      (first: Sent) => {
        requestId = first.requestId
        return lost
      },
      described({ runId: 'r2', firstRunId: 'r1' }),
      () => described({ runId: 'r1', status: COMPLETED, ...(requestId && { requestId }) }),
      outcome('r1'),
    )
    return { ...(await send(context)), last: methods(sent).at(-1) }
  }

  const begun = { workflowId: 'w', runId: 'r1', started: true, result: 'done', last: 'updateWorkflowExecution r1' }
  expect(await askedFor(LOST)).toEqual(begun)
  // That the start was done is all that is known of it.
  expect(await askedFor(updateRefused(LOST))).toEqual(begun)
})

test('update-with-start: an answer lost, and a run that was there long before: the update can be nowhere else', async () => {
  const { context, sent } = scriptedContext(LOST, described({ runId: 'r', sinceMs: HOUR_MS }), outcome('r'))

  expect(await send(context)).toMatchObject({ runId: 'r', started: false, result: 'done' })
  expect(methods(sent).at(-1)).toBe('updateWorkflowExecution r')
})

test('update-with-start: an answer lost, and a run that had ended long before: it is sent again', async () => {
  const { context, sent } = scriptedContext(
    LOST,
    described({ runId: 'old', status: COMPLETED, sinceMs: HOUR_MS }),
    done('r', true),
  )

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
  expect(methods(sent).at(-1)).toBe('executeMultiOperation')
})

test('update-with-start: an answer lost, and a new run of somebody else: nothing more is sent, and the ids are told', async () => {
  const open = scriptedContext(LOST, described({ runId: 'other' }))
  const closed = scriptedContext(LOST, described({ runId: 'other', status: COMPLETED }))

  const refusals = [await refusal(send(open.context)), await refusal(send(closed.context))]

  expect(
    refusals.map(({ error, workflowId, updateId, retryAfterSeconds }) => [
      error,
      workflowId,
      updateId,
      retryAfterSeconds,
    ]),
  ).toEqual([
    ['EngineUnavailableError', 'w', 'the-update', undefined],
    ['EngineUnavailableError', 'w', 'the-update', undefined],
  ])
  expect([...open.sent, ...closed.sent].filter(({ method }) => method !== 'describeWorkflowExecution').length).toBe(2)
})

test('update-with-start: of several tries that started the run is told, whichever of them did', async () => {
  let requestId: string | undefined
  const { context } = scriptedContext(
    (first: Sent) => {
      requestId = first.requestId
      return LOST
    },
    NOT_FOUND,
    done('r', false),
    () => described({ runId: 'r', ...(requestId && { requestId }) }),
  )

  expect(await send(context)).toMatchObject({ runId: 'r', started: true })
})

test('update-with-start: where it stays unknown who started the run that has answered, the run is told', async () => {
  const { context } = scriptedContext(LOST, NOT_FOUND, done('r', false), LIMITED)

  const refused = await refusal(send(context))

  expect(refused).toMatchObject({
    error: 'ResourceExhaustedError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
  })
  expect(refused).not.toHaveProperty('retryAfterSeconds')
})

test('update-with-start: a run that closes before it takes the update is the answer', async () => {
  const { context } = scriptedContext(NOT_FOUND, described({ runId: 'r', status: COMPLETED }))

  expect(await refusal(send(context))).toMatchObject({
    error: 'WorkflowNotRunningError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
    workflowStatus: 'completed',
  })
})

test('update-with-start: a run that goes on before it takes the update is followed, and nothing is started again', async () => {
  const { context, sent } = scriptedContext(NOT_FOUND, described({ runId: 'r2' }), outcome('r2'))

  expect(await send(context)).toMatchObject({ runId: 'r2', started: false, result: 'done' })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r2'])
})

test('update-with-start: where the start was done and the update refused, it is sent to that run, whose ids are told', async () => {
  let requestId: string | undefined
  const { context, sent } = scriptedContext(
    (first: Sent) => {
      requestId = first.requestId
      return updateRefused(NOT_READY)
    },
    () => described({ runId: 'r', ...(requestId && { requestId }) }),
    NOT_READY,
  )

  expect(await refusal(send(context))).toMatchObject({
    error: 'WorkflowNotReadyError',
    workflowId: 'w',
    runId: 'r',
    updateId: 'the-update',
  })
  expect(methods(sent)).toEqual(['executeMultiOperation', 'describeWorkflowExecution', 'updateWorkflowExecution r'])
})

test('update-with-start: unanswered in time, it names a run that may have taken it, not one that was closed before', async () => {
  let requestId: string | undefined
  const open = scriptedContext(LATE, described({ runId: 'r' }))
  const ours = scriptedContext(
    (first: Sent) => {
      requestId = first.requestId
      return LATE
    },
    () => described({ runId: 'r', status: COMPLETED, ...(requestId && { requestId }) }),
  )
  const part = scriptedContext(updateRefused(LATE), described({ runId: 'r' }))
  const before = scriptedContext(LATE, described({ runId: 'old', status: COMPLETED }))

  const refusals = await Promise.all([open, ours, part, before].map(({ context }) => refusal(send(context))))

  expect(refusals.map(({ error, runId, updateId }) => [error, runId, updateId])).toEqual([
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', 'r', 'the-update'],
    ['DeadlineExceededError', undefined, 'the-update'],
  ])
})

test('update-with-start: invites to come again only where nothing can have been done', async () => {
  const tries = [
    scriptedContext(UNSENT),
    scriptedContext(LIMITED),
    scriptedContext(LOST, NOT_FOUND, LIMITED),
    scriptedContext(LOST, LIMITED),
    scriptedContext(LOST, NOT_FOUND, LOST, NOT_FOUND, LOST),
  ]

  const refusals = await Promise.all(tries.map(({ context }) => refusal(send(context))))

  expect(refusals.map(({ error, retryAfterSeconds, updateId }) => [error, retryAfterSeconds, updateId])).toEqual([
    ['EngineUnavailableError', 1, 'the-update'],
    ['ResourceExhaustedError', 1, 'the-update'],
    ['ResourceExhaustedError', undefined, 'the-update'],
    ['ResourceExhaustedError', undefined, 'the-update'],
    ['EngineUnavailableError', undefined, 'the-update'],
  ])
})

test('update-with-start: a bug of ours leaves with the ids too', async () => {
  const { context } = scriptedContext({ responses: [] })

  expect(await refusal(send(context))).toMatchObject({
    error: 'InternalError',
    workflowId: 'w',
    updateId: 'the-update',
  })
})
