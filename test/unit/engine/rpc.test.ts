import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRpc, type RpcOptions } from '../../../src/engine/rpc.ts'
import {
  type CallOptions,
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
} from '../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../src/temporal/grpc-code.ts'
import { aCall } from '../call.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const DOWN = new RpcError('connection dropped', { code: GrpcCode.UNAVAILABLE })
const UNSENT = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })
const ANSWER = { runId: 'r' }

interface Sent {
  method: Method
  request: unknown
  options: CallOptions
  at: number
}

/** A transport that rejects with these, one after the other, and then answers. */
function transportThat(...errors: Error[]) {
  const sent: Sent[] = []
  const left = [...errors]
  const transport: Transport = {
    name: 'grpc',
    features: { slashInIds: { supported: true }, updateWithStart: { supported: true } },
    async call<M extends Method>(method: M, request: Request<M>, options: CallOptions) {
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

/** What the call came to, however long it took. */
async function settled(transport: Transport, call = aCall(), options?: RpcOptions): Promise<unknown> {
  const outcome = createRpc(transport)('startWorkflowExecution', REQUEST, call, options).catch(
    (error: unknown) => error,
  )
  await vi.runAllTimersAsync()
  return outcome
}

test('rpc: hands the call’s deadline and signal to the transport', async () => {
  const { transport, sent } = transportThat()
  const call = aCall()

  expect(await settled(transport, call)).toBe(ANSWER)
  expect(sent[0]).toMatchObject({ method: 'startWorkflowExecution', options: { deadlineAt: call.deadlineAt } })
  expect(sent[0]?.options.signal).toBe(call.signal)
})

test('rpc: an engine out of reach is asked again, and the log is told how often', async () => {
  const { transport, sent } = transportThat(DOWN, DOWN)
  const call = aCall()

  expect(await settled(transport, call)).toBe(ANSWER)
  expect(sent).toHaveLength(3)
  expect(call.notes).toEqual({ engineRetries: 2 })
})

test('rpc: each try sends the very same request, so that the engine does it once', async () => {
  const { transport, sent } = transportThat(DOWN, DOWN)

  await settled(transport)

  expect(sent.map(({ request }) => request === REQUEST)).toEqual([true, true, true])
})

test('rpc: asks at most five times, with growing rests', async () => {
  const { transport, sent } = transportThat(...Array.from({ length: 10 }, () => DOWN))
  const beganAt = Date.now()

  expect(await settled(transport)).toMatchObject({ code: DOWN.code, mayHaveBeenSent: true, mayHaveTakenEffect: true })
  expect(sent.map(({ at }) => at - beganAt)).toEqual([0, 100, 350, 850, 1850])
})

test('rpc: does not rest beyond its deadline', async () => {
  const { transport, sent } = transportThat(DOWN, DOWN, DOWN)

  await settled(transport, aCall({ deadlineAt: Date.now() + 300 }))

  expect(sent).toHaveLength(2)
})

test('rpc: an answer of the engine is final, unless it is of the kind that passes', async () => {
  const passing: number[] = [
    GrpcCode.UNAVAILABLE,
    GrpcCode.UNKNOWN,
    GrpcCode.ABORTED,
    GrpcCode.OUT_OF_RANGE,
    GrpcCode.DATA_LOSS,
  ]
  const codes = Object.values(GrpcCode)

  const tries = await Promise.all(
    codes.map(async (code) => {
      const { transport, sent } = transportThat(new RpcError('no', { code }))
      await settled(transport)
      return sent.length
    }),
  )

  expect(tries).toEqual(codes.map((code) => (passing.includes(code) ? 2 : 1)))
})

test('rpc: a stream that a balancer resets is asked for again', async () => {
  const { transport, sent } = transportThat(
    new RpcError('Received RST_STREAM with code 2', { code: GrpcCode.INTERNAL }),
  )

  await settled(transport)

  expect(sent).toHaveLength(2)
})

test('rpc: a fault of the transport itself is no answer and is not repeated', async () => {
  const bug = new TypeError('a bug')
  const { transport, sent } = transportThat(bug)

  expect(await settled(transport)).toBe(bug)
  expect(sent).toHaveLength(1)
})

test('rpc: what must not be done twice is not repeated once it may have arrived', async () => {
  const { transport, sent } = transportThat(DOWN)

  expect(await settled(transport, aCall(), { onLostResponse: 'throw' })).toBe(DOWN)
  expect(sent).toHaveLength(1)
})

test('rpc: what must not be done twice is repeated while nothing was sent', async () => {
  const { transport, sent } = transportThat(UNSENT, UNSENT, DOWN, UNSENT)

  expect(await settled(transport, aCall(), { onLostResponse: 'throw' })).toBe(DOWN)
  expect(sent).toHaveLength(3)
})

test('rpc: once an answer was lost, what is sent is what the caller has found out', async () => {
  const pinned = { ...REQUEST, workflowId: 'pinned' }
  const { transport, sent } = transportThat(UNSENT, DOWN, UNSENT)
  const onLostResponse = vi.fn(async () => ({ retryRequest: pinned }))

  expect(await settled(transport, aCall(), { onLostResponse })).toBe(ANSWER)
  expect(sent.map(({ request }) => request)).toEqual([REQUEST, REQUEST, pinned, pinned])
  expect(onLostResponse.mock.calls).toEqual([[DOWN]])
})

test('rpc: what was found after a lost answer is the answer, and nothing more is sent', async () => {
  const { transport, sent } = transportThat(DOWN)

  expect(await settled(transport, aCall(), { onLostResponse: async () => ({ result: 'this' }) })).toBe('this')
  expect(sent).toHaveLength(1)
})

test('rpc: a refusal after a lost answer tells that an attempt may have arrived', async () => {
  const { transport } = transportThat(DOWN, new RpcError('no', { code: GrpcCode.NOT_FOUND }))

  expect(await settled(transport, aCall(), { onLostResponse: async () => ({ retryRequest: REQUEST }) })).toMatchObject({
    mayHaveTakenEffect: true,
  })
})

test('rpc: an earlier try may have arrived even when the last was never sent', async () => {
  const { transport } = transportThat(DOWN, UNSENT, UNSENT, UNSENT, UNSENT)

  expect(await settled(transport)).toMatchObject({
    code: GrpcCode.UNAVAILABLE,
    message: UNSENT.message,
    mayHaveBeenSent: true,
    cause: UNSENT,
  })
})

test('rpc: when no try was sent, that is what it says', async () => {
  const { transport } = transportThat(UNSENT, UNSENT, UNSENT, UNSENT, UNSENT)

  expect(await settled(transport)).toMatchObject({ mayHaveBeenSent: false })
})

test('rpc: a caller that goes away ends the rest between two tries', async () => {
  const { transport, sent } = transportThat(DOWN, new RpcError('the caller went away', { code: GrpcCode.CANCELLED }))
  const caller = new AbortController()
  const outcome = createRpc(transport)('startWorkflowExecution', REQUEST, aCall({ signal: caller.signal })).catch(
    (error: unknown) => error,
  )
  await vi.advanceTimersByTimeAsync(50)

  caller.abort()

  expect(await outcome).toMatchObject({ code: GrpcCode.CANCELLED })
  expect(sent).toHaveLength(2)
})

test('rpc: leaves no listener on the caller’s signal', async () => {
  const call = aCall()

  for (let times = 0; times < 20; times++) await settled(transportThat(DOWN, DOWN).transport, call)

  expect(getEventListeners(call.signal, 'abort')).toEqual([])
})
