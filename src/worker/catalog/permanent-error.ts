import { GrpcCode } from '../../temporal/grpc-code.ts'

const PERMANENT: readonly unknown[] = [GrpcCode.INVALID_ARGUMENT, GrpcCode.PERMISSION_DENIED, GrpcCode.UNAUTHENTICATED]

/**
 * Whether a retry would fail the same way: the catalog is invalid, permission is denied, or the error is a bug and
 * has no gRPC code.
 */
export function isPermanentError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return true
  // RESOURCE_EXHAUSTED is transient except for "received message larger than max".
  if (error.code === GrpcCode.RESOURCE_EXHAUSTED) return /larger than max/.test(error.message)
  return PERMANENT.includes(error.code)
}
