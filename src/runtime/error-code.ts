/** What the system calls it, like `EADDRINUSE`; its text when it has no such name. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : String(error)
}
