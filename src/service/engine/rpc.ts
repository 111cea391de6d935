/** How calls reach the engine: with retries while it is unreachable, and watched while they take long. */

import { linkSignals, retryWithBackoff, runningTimeSignal } from '../../shared/lib/abort.ts'
import { GrpcCode } from '../../shared/temporal/grpc-code.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { isRetryable } from './errors.ts'
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

// The delay before each retry. Together they take 1.85 s of the 5 s that a request has.
const BACKOFF_MS = [100, 250, 500, 1000]

export interface FailedAttempt {
  error: RpcError
  /** How many retries there have been so far. */
  retries: number
  /** Whether an earlier attempt may have reached the engine. */
  mayHaveArrived: boolean
  /** Whether the call must not be sent again once an attempt may have reached the engine. */
  stopWhenSent: boolean
  /** Time until the deadline of the call. */
  remainingMs: number
}

type RetryDecision =
  | { retry: false; error: RpcError }
  /** `mayHaveArrived` includes the attempt that failed. */
  | { retry: true; delayMs: number; mayHaveArrived: boolean }

/** Whether a failed attempt is followed by another one. */
export function decideRetry(attempt: FailedAttempt): RetryDecision {
  const { error, retries, stopWhenSent, remainingMs } = attempt
  const mayHaveArrived = attempt.mayHaveArrived || error.mayHaveBeenSent
  const delayMs = BACKOFF_MS[retries]
  if (delayMs !== undefined && delayMs < remainingMs && isRetryable(error) && !(stopWhenSent && mayHaveArrived))
    return { retry: true, delayMs, mayHaveArrived }
  return { retry: false, error: attempt.mayHaveArrived ? withPossibleEffect(error) : error }
}

/** The same error, marked as having possibly had an effect: an earlier attempt may have reached the engine. */
export function withPossibleEffect(error: RpcError): RpcError {
  return new RpcError(error.message, {
    code: error.code,
    details: error.details,
    mayHaveBeenSent: true,
    mayHaveTakenEffect: true,
    cause: error,
  })
}

// The maximum for a ping if this process hardly runs: only its running time counts towards `TIMEOUT_MS.ping`.
const LONGEST_PING_MS = 30_000

// The reason that ends a running ping. Shared, because an abort without a reason creates an error with its stack, which
// takes 12 µs.
const ENDED = new DOMException('the call has ended', 'AbortError')

/**
 * Runs a call that may take long, and pings the engine meanwhile. Rejects with UNAVAILABLE when a ping fails. After a
 * second without a response of a worker, the request no longer counts as in flight.
 */
export async function withEngineWatchdog<T>(rpc: Rpc, call: Call, act: (call: Call) => Promise<T>): Promise<T> {
  const linked = linkSignals(call.signal)
  let unavailable: RpcError | null = null
  let pings = 0

  async function check(): Promise<void> {
    pings++
    const cause = await unansweredPing(rpc, { ...call, signal: linked.signal })
    pings--
    if (cause === null || linked.signal.aborted) return
    unavailable = new RpcError('the engine stopped responding', { code: GrpcCode.UNAVAILABLE, cause })
    linked.abort()
  }

  const waiting = setTimeout(() => call.startWaiting(), TIMEOUT_MS.workerResponse)
  const pinging = setInterval(check, TIMEOUT_MS.pingInterval)
  try {
    return await act({ ...call, signal: linked.signal })
  } catch (error) {
    throw unavailable ?? error
  } finally {
    clearTimeout(waiting)
    clearInterval(pinging)
    if (pings > 0) linked.abort(ENDED)
    linked.release()
  }
}

/**
 * The error of a ping that got no response; null if it got one. Time in which this process did not run (CPU throttling,
 * parsing a large body) does not count: the response may have arrived without being read.
 */
async function unansweredPing(rpc: Rpc, call: Call): Promise<unknown> {
  const limit = runningTimeSignal(TIMEOUT_MS.ping, call.signal)
  try {
    await ping(rpc, { ...withTimeout(call, LONGEST_PING_MS), signal: limit.signal })
    return null
  } catch (error) {
    return limit.signal.aborted || isUnanswered(error) ? error : null
  } finally {
    limit.release()
  }
}

/** An engine that responds with any other error is alive. */
function isUnanswered(error: unknown): boolean {
  return error instanceof RpcError && (error.code === GrpcCode.UNAVAILABLE || error.code === GrpcCode.DEADLINE_EXCEEDED)
}

/** Returns the engine's version. Needs neither a namespace nor a permission. */
export async function ping(rpc: Rpc, call: Call): Promise<{ version: string }> {
  const { serverVersion } = await rpc('getSystemInfo', {}, call)
  return { version: serverVersion }
}
