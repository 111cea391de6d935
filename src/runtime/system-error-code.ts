/** The system's code for an error, like `EADDRINUSE`; its message when it has no code. */
export function systemErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : String(error)
}
