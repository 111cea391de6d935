import type { Logger } from '@temporalio/worker'

/** Logs a problem with tracing, which does not affect the user's workflows. */
export type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void

interface Pending {
  fields: Readonly<Record<string, unknown>>
  times: number
  dropped: number
  timer: NodeJS.Timeout | undefined
}

const INTERVAL_MS = 60_000

/**
 * Logs each message at most once a minute: the first time at once, then the repeats of each minute as one line with
 * their count (`times`) and the sum of `dropped`. `flush` logs the repeats that are still pending.
 */
export function createWarnings(logger: Pick<Logger, 'warn'>): { warn: Warn; flush(): void } {
  const pending = new Map<string, Pending>()

  function log(message: string): void {
    const { times, dropped, fields, timer } = pending.get(message) ?? {
      times: 0,
      dropped: 0,
      fields: {},
      timer: undefined,
    }
    clearTimeout(timer)
    pending.delete(message)
    if (times === 0) return
    logger.warn(message, { ...fields, ...(dropped > 0 && { dropped }), times })
    pending.set(message, { fields: {}, times: 0, dropped: 0, timer: setTimeout(log, INTERVAL_MS, message).unref() })
  }

  return {
    warn(message, fields = {}) {
      const before = pending.get(message)
      const dropped = (before?.dropped ?? 0) + (typeof fields.dropped === 'number' ? fields.dropped : 0)
      pending.set(message, { fields, times: (before?.times ?? 0) + 1, dropped, timer: before?.timer })
      if (before === undefined) log(message)
    },
    flush: () => [...pending.keys()].forEach(log),
  }
}
