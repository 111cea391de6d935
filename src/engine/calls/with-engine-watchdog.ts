import { type Call, withTimeout } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { linkSignals } from '../../lib/abort.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import type { Rpc } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { ping } from './ping.ts'

/**
 * Runs a call that may take long, and pings the engine meanwhile. Rejects with UNAVAILABLE when the pings fail. A call
 * that a worker has not answered after a second only waits.
 */
export async function withEngineWatchdog<T>(rpc: Rpc, call: Call, act: (call: Call) => Promise<T>): Promise<T> {
  const linked = linkSignals(call.signal)
  let unavailable: RpcError | null = null

  async function check(): Promise<void> {
    try {
      await pingEngine(rpc, call)
    } catch (error) {
      if (call.signal.aborted || !isUnanswered(error)) return
      unavailable = new RpcError('the engine stopped responding', { code: GrpcCode.UNAVAILABLE, cause: error })
      linked.abort()
    }
  }

  const waiting = setTimeout(() => call.startWaiting(), TIMEOUT_MS.workerResponse)
  const pings = setInterval(check, TIMEOUT_MS.pingInterval)
  try {
    return await act({ ...call, signal: linked.signal })
  } catch (error) {
    throw unavailable ?? error
  } finally {
    clearTimeout(waiting)
    clearInterval(pings)
    linked.release()
  }
}

/**
 * A ping that times out late was delayed by our own process (CPU throttling, parsing a large body): the response may
 * have arrived without being read. Then one more ping decides.
 */
async function pingEngine(rpc: Rpc, call: Call): Promise<void> {
  const lateAt = Date.now() + TIMEOUT_MS.ping + TIMEOUT_MS.pingDelay
  try {
    await ping(rpc, withTimeout(call, TIMEOUT_MS.ping))
  } catch (error) {
    if (Date.now() < lateAt) throw error
    await ping(rpc, withTimeout(call, TIMEOUT_MS.repeatedPing))
  }
}

/** An engine that responds with any other error is alive. */
function isUnanswered(error: unknown): boolean {
  return error instanceof RpcError && (error.code === GrpcCode.UNAVAILABLE || error.code === GrpcCode.DEADLINE_EXCEEDED)
}
