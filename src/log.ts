export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Takes one event: what happened, and its facts. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

/** A log of JSON lines, one an event, from `leastLevel` up. */
export function jsonLog(leastLevel: LogLevel, write: (line: string) => void): Log {
  const least = LOG_LEVELS.indexOf(leastLevel)
  return (level, message, fields) => {
    if (LOG_LEVELS.indexOf(level) < least) return
    write(jsonLine({ time: new Date().toISOString(), level, message, ...fields }))
  }
}

function jsonLine(event: Record<string, unknown>): string {
  try {
    return JSON.stringify(event, (_key, value) => (value instanceof Error ? toPlain(value) : value))
  } catch {
    // A fact that JSON has no word for (a circle, a bigint) must not cost the event, still less the request.
    return JSON.stringify(Object.fromEntries(Object.entries(event).map(([key, value]) => [key, String(value)])))
  }
}

// An error is described by these alone: what else libraries hang on it may be a request, with its secrets.
function toPlain({ name, message, stack, cause }: Error) {
  return { name, message, stack, cause }
}
