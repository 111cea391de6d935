/**
 * Page tokens that a client has changed. The engine has several codes for them, also those of an internal failure: then
 * the same request succeeds without the token.
 */
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { RpcError } from '../transport/transport.ts'

/** Whether the token may be the cause. */
export function isInternalFailure(error: unknown): error is RpcError {
  if (!(error instanceof RpcError)) return false
  const { code, message } = error
  return code === GrpcCode.UNKNOWN || code === GrpcCode.INTERNAL || message === 'internal history service error'
}

/** Whether the token is the cause of the failure. `begin` sends the request without it. */
export async function isCausedByToken(error: unknown, begin: () => Promise<unknown>): Promise<boolean> {
  if (!isInternalFailure(error)) return false
  try {
    await begin()
    return true
  } catch {
    // The first error is reported: this one only shows that the token is not the cause.
    return false
  }
}
