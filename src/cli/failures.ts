/** Errors that the CLI itself finds. */

/** The command line, a variable or a settings file is wrong. */
export class UsageError extends Error {}

/** Ctrl-C. */
export class Interruption extends Error {
  /** What keeps running, and how to continue. */
  readonly advice: string | null

  constructor(advice: string | null = null) {
    super('Interrupted.')
    this.advice = advice
  }
}

/** The first request could not be sent. */
export class UnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`The service at ${url} cannot be reached: ${reasonOf(cause)}`, { cause })
  }
}

/** What is behind "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  // An error of several addresses, such as ::1 and 127.0.0.1, has no message of its own.
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0])
  return error.message
}
