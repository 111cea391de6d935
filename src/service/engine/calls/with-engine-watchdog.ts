import { linkSignals, runningTimeSignal } from '../../../shared/lib/abort.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { type Call, withTimeout } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { Rpc } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { ping } from './readiness.ts'

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
