// gRPC status codes.
const INVALID_ARGUMENT = 3
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const UNAUTHENTICATED = 16

const PERMANENT: readonly unknown[] = [INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED]

/**
 * Whether a retry would fail the same way: the catalog is invalid, permission is denied, or the error is a bug and
 * has no gRPC code.
 */
export function isPermanentError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return true
  // RESOURCE_EXHAUSTED is transient except for "received message larger than max".
  if (error.code === RESOURCE_EXHAUSTED) return /larger than max/.test(error.message)
  return PERMANENT.includes(error.code)
}
