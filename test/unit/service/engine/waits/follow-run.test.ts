import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createEngineClock, createPayloads, type EngineContext } from '../../../../../src/service/engine/context.ts'
import { createPollSlots } from '../../../../../src/service/engine/polls.ts'
import type { Rpc } from '../../../../../src/service/engine/rpc.ts'
import { HTTP_API_FEATURES } from '../../../../../src/service/engine/transport/http/features.ts'
import { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import { readClosing, traceInFailure, unsharedWait } from '../../../../../src/service/engine/waits/follow-run.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { Failure } from '../../../../../src/shared/temporal/failure.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { createPayloadReader, type PayloadReader, toPayload } from '../../../../../src/shared/temporal/payload.ts'
import { aCall, rejection } from '../../../call.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const RUN = { workflowId: 'orders-17', runId: 'r1' }
const OPEN = {}
const COMPLETED = { history: { events: [{ workflowExecutionCompletedEventAttributes: {} }] } }
/** The events of the last workflow task, latest first. */
const LAST_BATCH = { history: { events: [...COMPLETED.history.events, { workflowTaskCompletedEventAttributes: {} }] } }

interface Poll {
  deadlineMs: number
  signal: AbortSignal
  at: number
}

/**
 * Responds to polls in this order, with the last response for all further polls. A `held` poll ends when it is aborted.
 */
function scriptedContext(...answers: (object | Error | 'held')[]) {
  const polls: Poll[] = []
  const run = { lastEvents: OPEN, reads: 0 }
  const rpc = async (method: string, _request: object, { deadlineAt, signal }: Parameters<Rpc>[2]) => {
    if (method === 'getWorkflowExecutionHistoryReverse') {
      run.reads++
      return run.lastEvents
    }
    polls.push({ deadlineMs: deadlineAt - Date.now(), signal, at: Date.now() })
    const answer = answers[Math.min(polls.length, answers.length) - 1]
    if (answer === 'held')
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(cancelled())))
    if (answer instanceof Error) throw answer
    return answer
  }
  const context: EngineContext = {
    rpc: rpc as Rpc,
    namespace: 'default',
    payloads: createPayloads({ codec: null, maxBytes: 1000 }),
    clock: createEngineClock(),
    polls: createPollSlots(10),
    features: HTTP_API_FEATURES,
  }
  return { context, polls, run }
}

function cancelled(): RpcError {
  return new RpcError('Cancelled on client', { code: GrpcCode.CANCELLED })
}

async function settled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {}) // the test awaits it
  await vi.runAllTimersAsync()
  return promise
}

test('wait: continues when the engine is unreachable, busy or slow, and logs it', async () => {
  const failures = [GrpcCode.UNAVAILABLE, GrpcCode.RESOURCE_EXHAUSTED, GrpcCode.DEADLINE_EXCEEDED].map(
    (code) => new RpcError('no', { code }),
  )
  const { context, polls } = scriptedContext(...failures, COMPLETED)
  const call = aCall()

  expect(await settled(unsharedWait(context, RUN, call))).toMatchObject({ outcome: { status: 'completed' } })
  expect(polls).toHaveLength(4)
  expect(call.notes).toMatchObject({ waitInterrupted: { message: 'no' } })
})

const REJECTED = new RpcError('namespace concurrent poller limit exceeded', { code: GrpcCode.RESOURCE_EXHAUSTED })

test('wait: reads a run whose polls are rejected, with pauses of 1 s, 2 s and so on up to 5 s', async () => {
  const { context, polls, run } = scriptedContext(REJECTED)
  const beganAt = Date.now()

  expect(await settled(unsharedWait(context, RUN, aCall({ deadlineAt: beganAt + 26_000 })))).toBeNull()

  expect(polls.map(({ at }) => (at - beganAt) / 1000)).toEqual([0, 1, 3, 6, 10, 15, 20, 25])
  expect(run.reads).toBe(polls.length)
})

test('wait: returns the outcome of a run that ends while its polls are rejected', async () => {
  const { context, run } = scriptedContext(REJECTED)
  const beganAt = Date.now()
  const waiting = unsharedWait(context, RUN, aCall({ deadlineAt: beganAt + 60_000 }))
  await vi.advanceTimersByTimeAsync(7000)
  run.lastEvents = LAST_BATCH

  expect(await settled(waiting)).toMatchObject({ outcome: { status: 'completed' } })
  expect(Date.now() - beganAt).toBe(10_000)
})

test('wait: reads the run after a poll that times out', async () => {
  const { context, polls, run } = scriptedContext('held')
  run.lastEvents = LAST_BATCH

  expect(await settled(unsharedWait(context, RUN, aCall({ deadlineAt: Date.now() + 60_000 })))).toMatchObject({
    outcome: { status: 'completed' },
  })
  expect(polls).toHaveLength(1)
})

test('wait: rejects with an error that is not transient', async () => {
  const { context, polls } = scriptedContext(new RpcError('no', { code: GrpcCode.PERMISSION_DENIED }))

  expect((await rejection(settled(unsharedWait(context, RUN, aCall())))).error).toBe('EngineError')
  expect(polls).toHaveLength(1)
})

test('wait: an engine that rejects the namespace ends a wait with its first poll only, because it may be starting', async () => {
  const unknownNamespace = new RpcError('Namespace default is not found.', {
    code: GrpcCode.NOT_FOUND,
    details: [{ name: 'NamespaceNotFoundFailure', fields: {} }],
  })
  const stopped = new RpcError('no', { code: GrpcCode.UNAVAILABLE })

  const first = scriptedContext(unknownNamespace, COMPLETED)
  const later = scriptedContext(stopped, unknownNamespace, unknownNamespace, COMPLETED)

  expect((await settled(rejection(unsharedWait(first.context, RUN, aCall())))).error).toBe('EngineError')
  expect(await settled(unsharedWait(later.context, RUN, aCall()))).toMatchObject({ outcome: { status: 'completed' } })
})

test('wait: returns null at the deadline and aborts the open poll', async () => {
  const { context, polls } = scriptedContext('held')
  const beganAt = Date.now()

  expect(await settled(unsharedWait(context, RUN, aCall({ deadlineAt: beganAt + 700 })))).toBeNull()
  expect(Date.now() - beganAt).toBe(700)
  expect(polls.map(({ signal }) => signal.aborted)).toEqual([true])
})

test('wait: leaves no listener on its signal and no timer', async () => {
  const { signal } = new AbortController()

  for (let times = 0; times < 20; times++) {
    const { context } = scriptedContext(OPEN, new RpcError('down', { code: GrpcCode.UNAVAILABLE }), COMPLETED)
    await settled(unsharedWait(context, RUN, aCall({ signal })))
  }

  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

const PAYLOADS = createPayloadReader(null)

function failing(details: unknown[], cause: Failure | null = null): Failure {
  return { applicationFailureInfo: { type: 'X', details: { payloads: details.map(toPayload) } }, cause }
}

test('traceInFailure: finds the trace in the details of the failure, or of a cause', async () => {
  const trace = { destinations: { local: '/a.json' } }

  expect(await traceInFailure(failing(['other', { trace }]), PAYLOADS)).toEqual(trace)
  expect(
    await traceInFailure(failing([{ code: 17 }], { message: 'between', cause: failing([{ trace }]) }), PAYLOADS),
  ).toEqual(trace)
})

test('traceInFailure: decodes nothing without details, and ignores details without a trace', async () => {
  const neverDecodes: Pick<PayloadReader, 'decode'> = { decode: () => Promise.reject(new Error('decoded')) }

  expect(await traceInFailure({ message: 'no', cause: { message: 'none' } }, neverDecodes)).toBeNull()
  expect(await traceInFailure(failing([null, 1, [], { trace: 'x' }]), PAYLOADS)).toBeNull()
})

test('traceInFailure: is null when the codec fails', async () => {
  const failed: Pick<PayloadReader, 'decode'> = {
    decode: () => Promise.reject(new ServiceError('EngineError', 'The codec server could not decode the payloads.')),
  }

  expect(await traceInFailure(failing([1]), failed)).toBeNull()
})

test('readClosing: adds the trace that the details of a failure name', async () => {
  const trace = { destinations: { remote: 's3://traces/a.json' } }
  const failed = (details: unknown[]) => [{ workflowExecutionFailedEventAttributes: { failure: failing(details) } }]

  expect(await readClosing(failed([{ trace }]), PAYLOADS, 'w')).toMatchObject({ outcome: { status: 'failed' }, trace })
  expect(await readClosing(failed([]), PAYLOADS, 'w')).not.toHaveProperty('trace')
  expect(await readClosing([], PAYLOADS, 'w')).toBeNull()
})
