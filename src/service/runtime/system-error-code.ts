import { errorCode } from '../../shared/lib/error-code.ts'

/** The system's code for an error, like `EADDRINUSE`; its message when it has no code. */
export function systemErrorCode(error: unknown): unknown {
  return errorCode(error) ?? String(error)
}
