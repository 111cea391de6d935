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

/** Of a reading that several requests share: none of them may end it, or hear what it notes. */
export function sharedCall(requestId: string, timeoutMs: number): Call {
  return { signal: new AbortController().signal, deadlineAt: Date.now() + timeoutMs, requestId, note() {}, warn() {} }
}

/** The same call with `timeoutMs` from now on. */
export function within(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Date.now() + timeoutMs }
}

/** The same call, with `timeoutMs` from now on where it had more. */
export function atMost(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Math.min(call.deadlineAt, Date.now() + timeoutMs) }
}
