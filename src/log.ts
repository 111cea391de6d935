export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The message of records of what callers did. They are not diagnostics, so no level hides them. */
export const AUDIT = 'audit'

/** Logs one event: a message and its fields. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export interface JsonLogOptions {
  /** Events below this level are dropped, except those with the message `audit`. */
  minLevel: LogLevel
  write(line: string): void
  /** Removes secrets from the messages and stacks of errors, which may come from libraries. */
  redact(message: string): string
}

/** A log with one line of JSON per event. */
export function jsonLog({ minLevel, write, redact }: JsonLogOptions): Log {
  const min = LOG_LEVELS.indexOf(minLevel)
  return (level, message, fields) => {
    if (LOG_LEVELS.indexOf(level) < min && message !== AUDIT) return
    write(jsonLine({ time: new Date().toISOString(), level, message, ...fields }, redact))
  }
}

function jsonLine(event: Record<string, unknown>, redact: JsonLogOptions['redact']): string {
  try {
    return JSON.stringify(event, (_key, value) => (value instanceof Error ? toPlain(value, redact) : value))
  } catch {
    // A field that JSON cannot represent (a circular object, a bigint) must not lose the event, or fail the request.
    return JSON.stringify(Object.fromEntries(Object.entries(event).map(([key, value]) => [key, redact(String(value))])))
  }
}

// Only these: libraries attach other properties to errors, like the request with its secrets.
function toPlain({ name, message, stack, cause }: Error, redact: JsonLogOptions['redact']) {
  return { name, message: redact(message), ...(stack !== undefined && { stack: redact(stack) }), cause }
}

/** A copy of the error and its causes without stacks, for errors that are not bugs. */
export function withoutStack(error: Error): Error {
  const { name, message, cause } = error
  const copy = new Error(
    message,
    cause === undefined ? {} : { cause: cause instanceof Error ? withoutStack(cause) : cause },
  )
  if (copy.name !== name) copy.name = name
  delete copy.stack
  return copy
}
