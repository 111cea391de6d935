import { type Call, within } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import type { Rpc } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { ping } from './ping.ts'

/** Waits for what may take long with an eye on the engine: when that stops answering, this rejects as unavailable. */
export async function withEngineWatchdog<T>(rpc: Rpc, call: Call, act: (call: Call) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (call.signal.aborted) abort()
  call.signal.addEventListener('abort', abort)
  let silence: RpcError | null = null

  async function watch(): Promise<void> {
    try {
      await pingInTime(rpc, call)
    } catch (error) {
      if (call.signal.aborted || !isSilence(error)) return
      silence = new RpcError('the engine stopped answering', { code: GrpcCode.UNAVAILABLE, cause: error })
      abort()
    }
  }

  const timer = setInterval(watch, TIMEOUT_MS.pingInterval)
  try {
    return await act({ ...call, signal: controller.signal })
  } catch (error) {
    throw silence ?? error
  } finally {
    clearInterval(timer)
    call.signal.removeEventListener('abort', abort)
  }
}

/** A process that stood still meanwhile (its share of the processor used up, a large body parsed) takes its own silence for the engine's: it asks again. */
async function pingInTime(rpc: Rpc, call: Call): Promise<void> {
  const lateAt = Date.now() + TIMEOUT_MS.ping + TIMEOUT_MS.pingDelay
  try {
    await ping(rpc, within(call, TIMEOUT_MS.ping))
  } catch (error) {
    if (Date.now() < lateAt) throw error
    await ping(rpc, within(call, TIMEOUT_MS.repeatedPing))
  }
}

/** An engine that answers, whatever it says, is there. */
function isSilence(error: unknown): boolean {
  return error instanceof RpcError && (error.code === GrpcCode.UNAVAILABLE || error.code === GrpcCode.DEADLINE_EXCEEDED)
}
