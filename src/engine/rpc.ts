import type { Call } from '../domain/model/call.ts'
import { sleep } from '../lib/abort.ts'
import { decideRetry } from './retry.ts'
import { type Method, type Request, type Response, RpcError, type Transport } from './transport/transport.ts'

/** Sends a request to the engine. While the engine is unreachable it retries a few times, within the deadline. */
export type Rpc = <M extends Method, Result = never>(
  method: M,
  request: Request<M>,
  call: Call,
  options?: RpcOptions<M, Result>,
) => Promise<Response<M> | Result>

export interface RpcOptions<M extends Method = Method, Result = unknown> {
  /**
   * What to do when an attempt may have reached the engine but its response is lost: `throw` the error, or decide in a
   * callback. By default the same request is sent again.
   */
  onLostResponse?: 'throw' | ((error: RpcError) => Promise<LostResponseAction<M, Result>>)
}

/** The result, when the callback found it in another way, or the request to send now. */
export type LostResponseAction<M extends Method, Result = never> = { result: Result } | { retryRequest: Request<M> }

export function createRpc(transport: Transport): Rpc {
  return async <M extends Method, Result>(
    method: M,
    request: Request<M>,
    call: Call,
    { onLostResponse }: RpcOptions<M, Result> = {},
  ): Promise<Response<M> | Result> => {
    const { deadlineAt, signal } = call
    const stopWhenSent = onLostResponse === 'throw'
    let nextRequest = request
    let mayHaveArrived = false
    for (let retries = 0; ; retries++) {
      const response = await transport.call(method, nextRequest, { deadlineAt, signal }).catch(toRpcError)
      if (!(response instanceof RpcError)) return response
      const remainingMs = deadlineAt - Date.now()
      const decision = decideRetry({ error: response, retries, mayHaveArrived, stopWhenSent, remainingMs })
      if (!decision.retry) throw decision.error
      mayHaveArrived = decision.mayHaveArrived
      call.note({ engineRetries: retries + 1 })
      await sleep(decision.delayMs, signal)
      if (typeof onLostResponse !== 'function' || !response.mayHaveBeenSent) continue
      const action = await onLostResponse(response)
      if ('result' in action) return action.result
      nextRequest = action.retryRequest
    }
  }
}

function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  // A bug of ours: retrying would hide it.
  throw error
}
