import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { wait } from '../../../../src/engine/calls/wait.ts'
import { createEngineClock } from '../../../../src/engine/clock.ts'
import type { EngineContext } from '../../../../src/engine/context.ts'
import { createPayloads } from '../../../../src/engine/payloads.ts'
import type { Rpc } from '../../../../src/engine/rpc.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'
import { aCall, refusal } from '../../call.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const RUN = { workflowId: 'orders-17', runId: 'r1' }
const OPEN = {}
const PAUSED = { history: { events: [{ workflowExecutionPausedEventAttributes: {} }] } }
const COMPLETED = { history: { events: [{ workflowExecutionCompletedEventAttributes: {} }] } }

const DESCRIBED = { running: 1, completed: 2 }

interface Poll {
  deadlineMs: number
  signal: AbortSignal
  at: number
}

/** Answers polls with these in turn, with the last one for ever; `held`: until its signal aborts. */
function scriptedContext(...answers: (object | Error | 'held')[]) {
  const polls: Poll[] = []
  const run = { status: DESCRIBED.running, looks: 0 }
  const rpc = async (method: string, _request: object, { deadlineAt, signal }: Parameters<Rpc>[2]) => {
    if (method === 'describeWorkflowExecution') {
      run.looks++
      return { workflowExecutionInfo: { execution: RUN, status: run.status } }
    }
    if (method === 'getWorkflowExecutionHistoryReverse') return COMPLETED
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
  }
  return { context, polls, run }
}

function cancelled(): RpcError {
  return new RpcError('Cancelled on client', { code: GrpcCode.CANCELLED })
}

async function settled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {}) // told to the test, which awaits it
  await vi.runAllTimersAsync()
  return promise
}

test('wait: answers how the run ended', async () => {
  const { context } = scriptedContext(COMPLETED)

  expect(await settled(wait(context, RUN, aCall()))).toEqual({
    outcome: { status: 'completed', output: null },
    nextRunId: null,
  })
})

test('wait: polls with a deadline of its own', async () => {
  const { context, polls } = scriptedContext(COMPLETED)

  await settled(wait(context, RUN, aCall({ deadlineAt: Date.now() + 200 })))

  expect(polls).toMatchObject([{ deadlineMs: 30_000 }])
})

test('wait: a poll that comes back without an end is not the end, and is not repeated in a hurry', async () => {
  const { context, polls } = scriptedContext(OPEN, PAUSED, PAUSED, COMPLETED)
  const beganAt = Date.now()

  await settled(wait(context, RUN, aCall()))

  expect(polls.map(({ at }) => at - beganAt)).toEqual([0, 1000, 2000, 3000])
})

test('wait: outlives an engine out of reach, too busy or silent, and tells the log', async () => {
  const trouble = [GrpcCode.UNAVAILABLE, GrpcCode.RESOURCE_EXHAUSTED, GrpcCode.DEADLINE_EXCEEDED].map(
    (code) => new RpcError('trouble', { code }),
  )
  const { context, polls } = scriptedContext(...trouble, COMPLETED)
  const call = aCall()

  expect(await settled(wait(context, RUN, call))).toMatchObject({ outcome: { status: 'completed' } })
  expect(polls).toHaveLength(4)
  expect(call.notes).toMatchObject({ waitInterrupted: { message: 'trouble' } })
})

const REFUSED = new RpcError('namespace concurrent poller limit exceeded', { code: GrpcCode.RESOURCE_EXHAUSTED })

test('wait: a run whose polls are refused is described, after 1 s, 2 s and so on up to 5 s', async () => {
  const { context, polls, run } = scriptedContext(REFUSED)
  const beganAt = Date.now()

  expect(await settled(wait(context, RUN, aCall({ deadlineAt: beganAt + 26_000 })))).toBeNull()

  expect(polls.map(({ at }) => (at - beganAt) / 1000)).toEqual([0, 1, 3, 6, 10, 15, 20, 25])
  expect(run.looks).toBe(polls.length)
})

test('wait: a run that ends while its polls are refused is answered', async () => {
  const { context, run } = scriptedContext(REFUSED)
  const beganAt = Date.now()
  const waiting = wait(context, RUN, aCall({ deadlineAt: beganAt + 60_000 }))
  await vi.advanceTimersByTimeAsync(7000)
  run.status = DESCRIBED.completed

  expect(await settled(waiting)).toMatchObject({ outcome: { status: 'completed' } })
  expect(Date.now() - beganAt).toBe(10_000)
})

test('wait: a poll that is not answered in its time is no end of the wait, and the run is described', async () => {
  const { context, polls, run } = scriptedContext('held')
  run.status = DESCRIBED.completed

  expect(await settled(wait(context, RUN, aCall({ deadlineAt: Date.now() + 60_000 })))).toMatchObject({
    outcome: { status: 'completed' },
  })
  expect(polls).toHaveLength(1)
})

test('wait: an engine that can be reached again is polled a second later, not described', async () => {
  const { context, polls, run } = scriptedContext(
    new RpcError('down', { code: GrpcCode.UNAVAILABLE }),
    new RpcError('down', { code: GrpcCode.UNAVAILABLE }),
    COMPLETED,
  )
  const beganAt = Date.now()

  await settled(wait(context, RUN, aCall()))

  expect(polls.map(({ at }) => at - beganAt)).toEqual([0, 1000, 2000])
  expect(run.looks).toBe(0)
})

test('wait: a refusal is final', async () => {
  const { context, polls } = scriptedContext(new RpcError('no', { code: GrpcCode.PERMISSION_DENIED }))

  expect((await refusal(settled(wait(context, RUN, aCall())))).error).toBe('EngineError')
  expect(polls).toHaveLength(1)
})

test('wait: answers null at the deadline, and the poll that is open is cut', async () => {
  const { context, polls } = scriptedContext('held')
  const beganAt = Date.now()

  expect(await settled(wait(context, RUN, aCall({ deadlineAt: beganAt + 700 })))).toBeNull()
  expect(Date.now() - beganAt).toBe(700)
  expect(polls.map(({ signal }) => signal.aborted)).toEqual([true])
})

test('wait: a rest ends at the deadline too', async () => {
  const { context } = scriptedContext(OPEN)
  const beganAt = Date.now()

  expect(await settled(wait(context, RUN, aCall({ deadlineAt: beganAt + 1300 })))).toBeNull()
  expect(Date.now() - beganAt).toBe(1300)
})

test('wait: answers null when the caller goes away, and the poll that is open is cut', async () => {
  const { context, polls } = scriptedContext('held')
  const caller = new AbortController()
  const waiting = wait(context, RUN, aCall({ signal: caller.signal }))
  await vi.advanceTimersByTimeAsync(10)

  caller.abort()

  expect(await waiting).toBeNull()
  expect(polls.map(({ signal }) => signal.aborted)).toEqual([true])
  expect(vi.getTimerCount()).toBe(0)
})

test('wait: asks nothing for a caller that has gone', async () => {
  const { context, polls } = scriptedContext(COMPLETED)

  expect(await wait(context, RUN, aCall({ signal: AbortSignal.abort() }))).toBeNull()
  expect(polls).toEqual([])
})

test('wait: leaves no listener on the caller’s signal and no timer', async () => {
  const { signal } = new AbortController()

  for (let times = 0; times < 20; times++) {
    const { context } = scriptedContext(OPEN, new RpcError('down', { code: GrpcCode.UNAVAILABLE }), COMPLETED)
    await settled(wait(context, RUN, aCall({ signal })))
  }

  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})
