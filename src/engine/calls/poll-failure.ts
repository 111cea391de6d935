import { ServiceError } from '../../domain/errors.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import { isRetryable, isTransient } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

/** What a failed poll means for the wait. Every failure but `final` only interrupts it. */
export type PollFailure =
  /** The engine cannot be reached at the moment. */
  | 'unreachable'
  /** The engine rejected the poll or did not respond to it. Other calls may succeed. */
  | 'rejected'
  /** The run has ended, but its outcome cannot be read at the moment: the codec or the engine failed. */
  | 'unreadable'
  | 'final'

const TRANSIENT: ReadonlySet<string> = new Set([
  'EngineUnavailableError',
  'PayloadCodecError',
  'ResourceExhaustedError',
])

export function classifyPollFailure(error: unknown): PollFailure {
  if (error instanceof ServiceError) return TRANSIENT.has(error.error) ? 'unreadable' : 'final'
  if (!(error instanceof RpcError)) return 'final'
  if (isRetryable(error)) return 'unreachable'
  // CANCELLED: the poll got no response before our own deadline for it.
  return isTransient(error) || error.code === GrpcCode.CANCELLED ? 'rejected' : 'final'
}

// The engine responds to each poll of a paused run at once, and an engine at its limits must not get more polls.
const PAUSE_MS = 1000
const MAX_PAUSE_MS = 5000

/** `failures` counts polls that failed in a row. */
export function pauseBetweenPollsMs(failures: number): number {
  return Math.min(PAUSE_MS * Math.max(1, failures), MAX_PAUSE_MS)
}
