import { retryWithBackoff } from '../../shared/lib/backoff.ts'
import type { Call } from '../model/call.ts'
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
  return <M extends Method, Result>(
    method: M,
    request: Request<M>,
    call: Call,
    { onLostResponse }: RpcOptions<M, Result> = {},
  ): Promise<Response<M> | Result> => {
    const { deadlineAt, signal } = call
    const stopWhenSent = onLostResponse === 'throw'
    let next: LostResponseAction<M, Result> = { retryRequest: request }
    let mayHaveArrived = false

    async function attempt(): Promise<Response<M> | Result> {
      if ('result' in next) return next.result
      return transport.call(method, next.retryRequest, { deadlineAt, signal })
    }

    function delayMs(error: unknown, retries: number): number {
      // Any other error is a bug of ours: retrying would hide it.
      if (!(error instanceof RpcError)) throw error
      const remainingMs = deadlineAt - Date.now()
      const decision = decideRetry({ error, retries, mayHaveArrived, stopWhenSent, remainingMs })
      if (!decision.retry) throw decision.error
      mayHaveArrived = decision.mayHaveArrived
      call.note({ engineRetries: retries + 1 })
      return decision.delayMs
    }

    async function beforeRetry(error: unknown): Promise<void> {
      if (typeof onLostResponse === 'function' && error instanceof RpcError && error.mayHaveBeenSent)
        next = await onLostResponse(error)
    }

    return retryWithBackoff(attempt, { delayMs, signal, beforeRetry })
  }
}
