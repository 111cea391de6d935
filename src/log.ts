export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Takes one event: what happened, and its facts. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export interface JsonLogOptions {
  /** Nothing below it is written. */
  leastLevel: LogLevel
  write(line: string): void
  /** Sees each text of an error before it is written, for it may be another's. */
  hide(text: string): string
}

/** A log of JSON lines, one an event. */
export function jsonLog({ leastLevel, write, hide }: JsonLogOptions): Log {
  const least = LOG_LEVELS.indexOf(leastLevel)
  return (level, message, fields) => {
    if (LOG_LEVELS.indexOf(level) < least) return
    write(jsonLine({ time: new Date().toISOString(), level, message, ...fields }, hide))
  }
}

function jsonLine(event: Record<string, unknown>, hide: JsonLogOptions['hide']): string {
  try {
    return JSON.stringify(event, (_key, value) => (value instanceof Error ? toPlain(value, hide) : value))
  } catch {
    // A fact that JSON has no word for (a circle, a bigint) must not cost the event, still less the request.
    return JSON.stringify(Object.fromEntries(Object.entries(event).map(([key, value]) => [key, hide(String(value))])))
  }
}

// An error is described by these alone: what else libraries hang on it may be a request, with its secrets.
function toPlain({ name, message, stack, cause }: Error, hide: JsonLogOptions['hide']) {
  return { name, message: hide(message), ...(stack !== undefined && { stack: hide(stack) }), cause }
}

/** The error and its causes without their stacks: where in the code is of interest in a bug, not in what was to be expected. */
export function withoutStack(error: Error): Error {
  const { name, message, cause } = error
  const told = new Error(
    message,
    cause === undefined ? {} : { cause: cause instanceof Error ? withoutStack(cause) : cause },
  )
  if (told.name !== name) told.name = name
  delete told.stack
  return told
}
