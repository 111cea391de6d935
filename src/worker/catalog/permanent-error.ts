// Codes of gRPC.
const INVALID_ARGUMENT = 3
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const UNAUTHENTICATED = 16

const REFUSALS: readonly unknown[] = [INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED]

/** Whether the same call would fail for ever: an invalid catalog, a refused permission, or no answer of the engine at all but a bug. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'number') return true
  // One of four things that have this code, and the only one that does not pass: "received message larger than max".
  if (error.code === RESOURCE_EXHAUSTED) return /larger than max/.test(error.message)
  return REFUSALS.includes(error.code)
}
