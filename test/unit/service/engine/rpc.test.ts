import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  createRpc,
  decideRetry,
  type FailedAttempt,
  type Rpc,
  type RpcOptions,
  withEngineWatchdog,
} from '../../../../src/service/engine/rpc.ts'
import {
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
  type TransportCallOptions,
} from '../../../../src/service/engine/transport/transport.ts'
import type { Call } from '../../../../src/service/model/call.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../call.ts'
import { ALL_FEATURES } from './calls/scripted-context.ts'
import { LOST, UNSENT } from './rpc-errors.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ANSWER = { runId: 'r' }

interface Sent {
  method: Method
  request: unknown
  options: TransportCallOptions
  at: number
}

/** A transport that rejects with these errors in turn, and then responds. */
function transportThat(...errors: Error[]) {
  const sent: Sent[] = []
  const left = [...errors]
  const transport: Transport = {
    name: 'grpc',
    features: ALL_FEATURES,
    async call<M extends Method>(method: M, request: Request<M>, options: TransportCallOptions) {
      sent.push({ method, request, options, at: Date.now() })
      const error = left.shift()
      if (error) throw error
      return ANSWER as unknown as Response<M>
    },
    async close() {},
  }
  return { transport, sent }
}

const REQUEST = { namespace: 'default', workflowId: 'orders-17', requestId: 'once' }

/** The result or the error of the call, after all timers. */
async function settled(transport: Transport, call = aCall(), options?: RpcOptions): Promise<unknown> {
  const outcome = createRpc(transport)('startWorkflowExecution', REQUEST, call, options).catch(
    (error: unknown) => error,
  )
  await vi.runAllTimersAsync()
  return outcome
}

test('rpc: retries while the engine is unreachable, and logs how often', async () => {
  const { transport, sent } = transportThat(LOST, LOST)
  const call = aCall()

  expect(await settled(transport, call)).toBe(ANSWER)
  expect(sent).toHaveLength(3)
  expect(call.notes).toEqual({ engineRetries: 2 })
})

test('rpc: makes at most five attempts, with growing delays', async () => {
  const { transport, sent } = transportThat(...Array.from({ length: 10 }, () => LOST))
  const beganAt = Date.now()

  expect(await settled(transport)).toMatchObject({ code: LOST.code, mayHaveBeenSent: true, mayHaveTakenEffect: true })
  expect(sent.map(({ at }) => at - beganAt)).toEqual([0, 100, 350, 850, 1850])
})

test('rpc: does not wait beyond its deadline', async () => {
  const { transport, sent } = transportThat(LOST, LOST, LOST)

  await settled(transport, aCall({ deadlineAt: Date.now() + 300 }))

  expect(sent).toHaveLength(2)
})

test('rpc: retries only the codes that Temporal’s clients retry', async () => {
  const retryable: number[] = [
    GrpcCode.UNAVAILABLE,
    GrpcCode.UNKNOWN,
    GrpcCode.ABORTED,
    GrpcCode.OUT_OF_RANGE,
    GrpcCode.DATA_LOSS,
  ]
  const codes = Object.values(GrpcCode)

  const attempts = await Promise.all(
    codes.map(async (code) => {
      const { transport, sent } = transportThat(new RpcError('no', { code }))
      await settled(transport)
      return sent.length
    }),
  )

  expect(attempts).toEqual(codes.map((code) => (retryable.includes(code) ? 2 : 1)))
})

test('rpc: retries a stream that a load balancer resets', async () => {
  const { transport, sent } = transportThat(
    new RpcError('Received RST_STREAM with code 2', { code: GrpcCode.INTERNAL }),
  )

  await settled(transport)

  expect(sent).toHaveLength(2)
})

test("rpc: with onLostResponse 'throw' it does not retry what may have arrived", async () => {
  const { transport, sent } = transportThat(LOST)

  expect(await settled(transport, aCall(), { onLostResponse: 'throw' })).toBe(LOST)
  expect(sent).toHaveLength(1)
})

test('rpc: after a lost response it sends the request that onLostResponse returns', async () => {
  const pinned = { ...REQUEST, workflowId: 'pinned' }
  const { transport, sent } = transportThat(UNSENT, LOST, UNSENT)
  const onLostResponse = vi.fn(async () => ({ retryRequest: pinned }))

  expect(await settled(transport, aCall(), { onLostResponse })).toBe(ANSWER)
  expect(sent.map(({ request }) => request)).toEqual([REQUEST, REQUEST, pinned, pinned])
  expect(onLostResponse.mock.calls).toEqual([[LOST]])
})

test('rpc: after a lost response it returns the result that onLostResponse found', async () => {
  const { transport, sent } = transportThat(LOST)

  expect(await settled(transport, aCall(), { onLostResponse: async () => ({ result: 'this' }) })).toBe('this')
  expect(sent).toHaveLength(1)
})

test('rpc: an error after a lost response says that it may have taken effect', async () => {
  const { transport } = transportThat(LOST, new RpcError('no', { code: GrpcCode.NOT_FOUND }))

  expect(await settled(transport, aCall(), { onLostResponse: async () => ({ retryRequest: REQUEST }) })).toMatchObject({
    mayHaveTakenEffect: true,
  })
})

const REJECTED = new RpcError('no', { code: GrpcCode.NOT_FOUND })

function decide(attempt: Partial<FailedAttempt>) {
  return decideRetry({
    error: LOST,
    retries: 0,
    mayHaveArrived: false,
    stopWhenSent: false,
    remainingMs: 5000,
    ...attempt,
  })
}

test.for<[string, Partial<FailedAttempt>, object]>([
  ['the first retry waits 100 ms', {}, { retry: true, delayMs: 100, mayHaveArrived: true }],
  ['the fourth retry waits 1 s', { retries: 3 }, { retry: true, delayMs: 1000, mayHaveArrived: true }],
  ['there is no fifth retry', { retries: 4 }, { retry: false, error: LOST }],
  ['an unsent request has not arrived', { error: UNSENT }, { retry: true, delayMs: 100, mayHaveArrived: false }],
  [
    'an earlier attempt may have arrived',
    { error: UNSENT, mayHaveArrived: true },
    { retry: true, delayMs: 100, mayHaveArrived: true },
  ],
  ['there is no retry after the deadline', { remainingMs: 100 }, { retry: false, error: LOST }],
  ['an error that is not retryable is final', { error: REJECTED }, { retry: false, error: REJECTED }],
  ['a request that may have been sent stops', { stopWhenSent: true }, { retry: false, error: LOST }],
  [
    'an unsent request does not stop',
    { stopWhenSent: true, error: UNSENT },
    { retry: true, delayMs: 100, mayHaveArrived: false },
  ],
])('decideRetry: %s', ([, attempt, decision]) => {
  expect(decide(attempt)).toEqual(decision)
})

test('decideRetry: the final error says whether an earlier attempt may have arrived', () => {
  const marked = { mayHaveBeenSent: true, mayHaveTakenEffect: true }

  expect(decide({ error: REJECTED, mayHaveArrived: true })).toMatchObject({
    retry: false,
    error: { code: GrpcCode.NOT_FOUND, message: 'no', cause: REJECTED, ...marked },
  })
  expect(decide({ error: UNSENT, retries: 4, mayHaveArrived: true })).toMatchObject({ error: marked })
  expect(decide({ error: REJECTED })).toMatchObject({ error: { mayHaveTakenEffect: false } })
})

/** An engine that responds to pings with `answer`. */
function pinged(answer: (signal: AbortSignal, deadlineAt: number) => Promise<unknown>) {
  const pings: { method: string; at: number }[] = []
  const rpc = (method: string, _request: object, { signal, deadlineAt }: Call) => {
    pings.push({ method, at: Date.now() })
    return answer(signal, deadlineAt)
  }
  return { rpc: rpc as Rpc, pings }
}

const ALIVE = async () => ({})
/** An engine that hangs: only the caller ends the call. */
const HANGING = (signal: AbortSignal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new RpcError('aborted', { code: GrpcCode.CANCELLED })))
  })

/** A call that gets its response after `ms`, and rejects when its signal aborts. */
function answeredAfter(ms: number) {
  return ({ signal }: Call) =>
    new Promise<string>((resolve, reject) => {
      if (signal.aborted) reject(new Error('aborted'))
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      setTimeout(() => resolve('answer'), ms)
    })
}

test('withEngineWatchdog: pings the engine every 2 s', async () => {
  const { rpc, pings } = pinged(ALIVE)
  const beganAt = Date.now()
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(7000))

  await vi.advanceTimersByTimeAsync(7000)

  expect(await answer).toBe('answer')
  expect(pings.map(({ method, at }) => [method, at - beganAt])).toEqual([
    ['getSystemInfo', 2000],
    ['getSystemInfo', 4000],
    ['getSystemInfo', 6000],
  ])
})

test('withEngineWatchdog: a call that has no response after a second only waits', async () => {
  const { rpc } = pinged(ALIVE)
  const startWaiting = vi.fn()
  const quick = withEngineWatchdog(rpc, aCall({ startWaiting }), answeredAfter(999))
  await vi.advanceTimersByTimeAsync(5000)
  const callsOfQuick = startWaiting.mock.calls.length

  const slow = withEngineWatchdog(rpc, aCall({ startWaiting }), answeredAfter(1500))
  await vi.advanceTimersByTimeAsync(1000)
  const callsOfSlow = startWaiting.mock.calls.length
  await vi.advanceTimersByTimeAsync(500)

  expect([callsOfQuick, callsOfSlow]).toEqual([0, 1])
  expect(await Promise.all([quick, slow])).toEqual(['answer', 'answer'])
})

test('withEngineWatchdog: rejects with UNAVAILABLE when the engine does not respond for 2 s', async () => {
  const answer = withEngineWatchdog(pinged(HANGING).rpc, aCall(), answeredAfter(60_000))
  const settled = vi.fn()
  answer.then(settled, settled)

  await vi.advanceTimersByTimeAsync(3999)
  expect(settled).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)

  await expect(answer).rejects.toMatchObject({ code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: true })
})

test('withEngineWatchdog: time in which our own process does not run is not counted', async () => {
  const pauseProcess = async (_: AbortSignal, deadlineAt: number) => {
    vi.setSystemTime(Date.now() + 3000)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    if (Date.now() > deadlineAt) throw new RpcError('no answer', { code: GrpcCode.DEADLINE_EXCEEDED })
  }
  const answer = withEngineWatchdog(pinged(pauseProcess).rpc, aCall(), answeredAfter(3500))

  await vi.advanceTimersByTimeAsync(3500)

  expect(await answer).toBe('answer')
})

test('withEngineWatchdog: an engine that rejects the ping is alive', async () => {
  const rejecting = () => Promise.reject(new RpcError('too many', { code: GrpcCode.RESOURCE_EXHAUSTED }))
  const answer = withEngineWatchdog(pinged(rejecting).rpc, aCall(), answeredAfter(10_000))

  await vi.advanceTimersByTimeAsync(10_000)

  expect(await answer).toBe('answer')
})

test('withEngineWatchdog: aborts the call at once if its signal has aborted before', async () => {
  const answer = withEngineWatchdog(pinged(ALIVE).rpc, aCall({ signal: AbortSignal.abort() }), answeredAfter(60_000))

  await expect(answer).rejects.toThrow('aborted')
})

test('withEngineWatchdog: aborts a ping without a response when the call has ended', async () => {
  let ofPing: AbortSignal | undefined
  const { rpc } = pinged((signal) => {
    ofPing = signal
    return HANGING(signal)
  })
  const answer = withEngineWatchdog(rpc, aCall(), answeredAfter(3000))

  await vi.advanceTimersByTimeAsync(3000)

  expect([await answer, ofPing?.aborted, vi.getTimerCount()]).toEqual(['answer', true, 0])
})
