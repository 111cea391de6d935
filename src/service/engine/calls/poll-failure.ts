import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { isOutage } from '../../model/errors.ts'
import { hasDetail, isBusyWorkflow, isRetryable, isTransient } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

/** What a failed poll means for the wait. Every failure but `final` only interrupts it. */
export type PollFailure =
  /** The engine cannot be reached at the moment. */
  | 'unreachable'
  /** The engine allows no more polls at the moment. Other calls may succeed. */
  | 'limited'
  /** The engine did not respond to the poll, or the run takes none at the moment. Other calls may succeed. */
  | 'unanswered'
  /** The engine does not know the namespace: it is starting, or the namespace has been deleted. */
  | 'unregistered'
  /** The run has ended, but its outcome cannot be read at the moment: the codec or the engine failed. */
  | 'unreadable'
  | 'final'

export function classifyPollFailure(error: unknown): PollFailure {
  if (isOutage(error)) return 'unreadable'
  if (!(error instanceof RpcError)) return 'final'
  if (isRetryable(error)) return 'unreachable'
  if (hasDetail(error, 'NamespaceNotFoundFailure')) return 'unregistered'
  if (error.code === GrpcCode.CANCELLED) return 'unanswered' // our own signal has ended the poll
  if (!isTransient(error)) return 'final'
  return error.code === GrpcCode.RESOURCE_EXHAUSTED && !isBusyWorkflow(error) ? 'limited' : 'unanswered'
}

// The engine responds to each poll of a paused run at once, and an engine at its limits must not get more polls.
const PAUSE_MS = 1000
const MAX_PAUSE_MS = 5000

/** `failures` counts polls that failed in a row. */
export function pauseBetweenPollsMs(failures: number): number {
  return Math.min(PAUSE_MS * Math.max(1, failures), MAX_PAUSE_MS)
}
