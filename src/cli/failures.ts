/** Errors of the CLI itself. */
import type { OpenRun } from '../client/responses.ts'

/** The command line, a variable or a settings file is wrong. */
export class UsageError extends Error {}

type InterruptedRun = (Partial<OpenRun> & { workflowId: string }) | { activityId: string }

/** Ctrl-C. */
export class Interruption extends Error {
  /** What the command waited for, and what keeps running. */
  readonly run: InterruptedRun | null

  constructor(run: InterruptedRun | null = null) {
    super('Interrupted.')
    this.run = run
  }
}

/** The reason behind "fetch failed". */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  // An error of several addresses, such as ::1 and 127.0.0.1, has no message of its own.
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0])
  // The message of OpenSSL is its location in the source.
  if ('reason' in error && 'library' in error) return `TLS: ${error.reason}`
  return error.message
}
