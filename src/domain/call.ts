/** Who waits, until when, for which request. Every verb takes it last. */
export interface Call {
  /** Aborts when nobody waits for the answer any more; it ends our waiting, never the workflow. */
  signal: AbortSignal
  /** Epoch milliseconds by which the request must be answered. */
  deadlineAt: number
  requestId: string
  /** Adds facts to the request's log line. */
  note(fields: Record<string, unknown>): void
  /** Logs a warning about something that concerns more than this request. */
  warn(message: string, fields: Record<string, unknown>): void
}

/** The reason of a signal that ends a wait whose caller still listens: the service is shutting down. */
export const SHUTTING_DOWN = new DOMException('the service is shutting down', 'AbortError')

/** A call of the service itself, for example a read that several requests share: no request aborts it or logs its facts. */
export function backgroundCall(name: string, timeoutMs: number): Call {
  const { signal } = new AbortController()
  return { signal, deadlineAt: Date.now() + timeoutMs, requestId: name, note() {}, warn() {} }
}

/** The same call with `timeoutMs` from now on, and a signal that never aborts: for a last read after the call was aborted. */
export function unabortable(call: Call, timeoutMs: number): Call {
  const { signal } = new AbortController()
  return { ...within(call, timeoutMs), signal }
}

/** The same call with `timeoutMs` from now on. */
export function within(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Date.now() + timeoutMs }
}

/** The same call, with `timeoutMs` from now on where it had more. */
export function atMost(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Math.min(call.deadlineAt, Date.now() + timeoutMs) }
}
