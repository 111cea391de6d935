import { errorCode } from '../../lib/error-code.ts'
import { errorMessage } from '../../lib/error-message.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'

const PERMANENT: readonly unknown[] = [GrpcCode.INVALID_ARGUMENT, GrpcCode.PERMISSION_DENIED, GrpcCode.UNAUTHENTICATED]

/**
 * Whether a retry would fail the same way: the catalog is invalid, permission is denied, or the error is a bug and
 * has no gRPC code.
 */
export function isPermanentError(error: unknown): boolean {
  const code = errorCode(error)
  if (typeof code !== 'number') return true
  // RESOURCE_EXHAUSTED is transient except for "received message larger than max".
  if (code === GrpcCode.RESOURCE_EXHAUSTED) return /larger than max/.test(errorMessage(error))
  return PERMANENT.includes(code)
}
