import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRpc, type RpcOptions } from '../../../../src/service/engine/rpc.ts'
import {
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
  type TransportCallOptions,
} from '../../../../src/service/engine/transport/transport.ts'
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

test("rpc: with onLostResponse 'throw' it retries while nothing was sent", async () => {
  const { transport, sent } = transportThat(UNSENT, UNSENT, LOST, UNSENT)

  expect(await settled(transport, aCall(), { onLostResponse: 'throw' })).toBe(LOST)
  expect(sent).toHaveLength(3)
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

test('rpc: an error says that an earlier attempt may have arrived, even if the last was never sent', async () => {
  const { transport } = transportThat(LOST, UNSENT, UNSENT, UNSENT, UNSENT)

  expect(await settled(transport)).toMatchObject({
    code: GrpcCode.UNAVAILABLE,
    message: UNSENT.message,
    mayHaveBeenSent: true,
    cause: UNSENT,
  })
})
