import { errorCode } from '../lib/error-code.ts'

/** The status codes of gRPC: https://grpc.io/docs/guides/status-codes/ */
export const GrpcCode = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const

/** Whether the SDK's client rejected a call with this code. */
export function hasGrpcCode(error: unknown, code: number): boolean {
  return errorCode(error) === code
}

/** For `catch`: null if the SDK's client rejected a call with `NOT_FOUND`. */
export function nullOnGrpcNotFound(error: unknown): null {
  if (hasGrpcCode(error, GrpcCode.NOT_FOUND)) return null
  throw error
}
