import type { Call } from '../domain/call.ts'
import { pause } from '../domain/pause.ts'
import { isPassing } from './errors.ts'
import { type CallOptions, type Method, type Request, type Response, RpcError, type Transport } from './transport/transport.ts'

/** One call of the engine, repeated a few times while it is out of reach and the caller's deadline allows. */
export type Rpc = <M extends Method>(method: M, request: Request<M>, call: Call, options?: RpcOptions<M>) => Promise<Response<M>>

export interface RpcOptions<M extends Method = Method> extends Pick<CallOptions, 'longPoll'> {
  /** False for what would be done twice if the first try arrived after all: it is repeated only when nothing was sent. */
  repeatable?: boolean
  /** What is sent instead once an earlier try may have arrived. */
  again?: Request<M>
}

const PAUSES_MS = [100, 250, 500, 1000]

export function createRpc(transport: Transport): Rpc {
  return async <M extends Method>(
    method: M,
    request: Request<M>,
    call: Call,
    { longPoll = false, repeatable = true, again = request }: RpcOptions<M> = {},
  ): Promise<Response<M>> => {
    let repeated = false
    for (let attempt = 0; ; attempt++) {
      try {
        return await transport.call(method, repeated ? again : request, { deadlineAt: call.deadlineAt, signal: call.signal, longPoll })
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        const maybeSent: boolean = repeated || error.maybeSent
        const pauseMs = PAUSES_MS[attempt]
        const goesOn = isPassing(error) && (repeatable || !maybeSent) && pauseMs !== undefined && Date.now() + pauseMs < call.deadlineAt
        if (!goesOn) throw repeated ? afterRepeats(error) : error
        repeated = maybeSent
        call.note({ engineRetries: attempt + 1 })
        await pause(pauseMs, call.signal)
      }
    }
  }
}

/** An earlier try may have arrived, whatever became of the last one. */
export function afterRepeats(error: RpcError): RpcError {
  return new RpcError(error.message, { code: error.code, details: error.details, maybeSent: true, repeated: true, cause: error })
}
