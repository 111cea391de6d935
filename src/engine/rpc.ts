import type { Call } from '../domain/call.ts'
import { sleep } from '../lib/abort.ts'
import { isRetryable } from './errors.ts'
import { type Method, type Request, type Response, RpcError, type Transport } from './transport/transport.ts'

/** One call of the engine, repeated a few times while it is out of reach and the caller's deadline allows. */
export type Rpc = <M extends Method, Found = never>(
  method: M,
  request: Request<M>,
  call: Call,
  options?: RpcOptions<M, Found>,
) => Promise<Response<M> | Found>

export interface RpcOptions<M extends Method = Method, Found = unknown> {
  /** What happens when an attempt may have arrived and its answer is lost. By default the same request is sent again. */
  onLostResponse?: 'give up' | ((lost: RpcError) => Promise<AfterLoss<M, Found>>)
}

/** What was to be answered, when it was found in another way; or the request to send now. */
export type AfterLoss<M extends Method, Found = never> = { found: Found } | { request: Request<M> }

const PAUSES_MS = [100, 250, 500, 1000]

export function createRpc(transport: Transport): Rpc {
  return async <M extends Method, Found>(
    method: M,
    request: Request<M>,
    call: Call,
    { onLostResponse }: RpcOptions<M, Found> = {},
  ): Promise<Response<M> | Found> => {
    const { deadlineAt, signal } = call
    let next = request
    let repeated = false
    for (let attempt = 0; ; attempt++) {
      try {
        return await transport.call(method, next, { deadlineAt, signal })
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        const mayHaveBeenSent: boolean = repeated || error.mayHaveBeenSent
        const pauseMs = onLostResponse === 'give up' && mayHaveBeenSent ? null : pauseAfter(error, attempt, deadlineAt)
        if (pauseMs === null) throw repeated ? withPossibleEffect(error) : error
        repeated = mayHaveBeenSent
        call.note({ engineRetries: attempt + 1 })
        await sleep(pauseMs, signal)
        if (!error.mayHaveBeenSent || typeof onLostResponse !== 'function') continue
        const after = await onLostResponse(error)
        if ('found' in after) return after.found
        next = after.request
      }
    }
  }
}

/** How long to wait before the next attempt; null when there is none. */
function pauseAfter(error: RpcError, attempt: number, deadlineAt: number): number | null {
  const pauseMs = PAUSES_MS[attempt]
  return pauseMs !== undefined && isRetryable(error) && Date.now() + pauseMs < deadlineAt ? pauseMs : null
}

/** An earlier try may have arrived, whatever became of the last one. */
export function withPossibleEffect(error: RpcError): RpcError {
  return new RpcError(error.message, {
    code: error.code,
    details: error.details,
    mayHaveBeenSent: true,
    mayHaveTakenEffect: true,
    cause: error,
  })
}
