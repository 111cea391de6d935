import type { AuditFacts, Caller } from './caller.ts'
import { TIMEOUT_MS } from './deadlines.ts'

/** The deadline, abort signal and log of one request. The last argument of every verb. */
export interface Call {
  /** Aborts when the client disconnects or the service shuts down. It ends the waiting, never the workflow. */
  signal: AbortSignal
  /** Epoch milliseconds. */
  deadlineAt: number
  requestId: string
  /** Absent for the service itself, and where no credential is required. */
  caller?: Caller
  /** The trace that the workflow or handler continues, as the headers `traceparent` and `tracestate`. */
  traceContext?: Readonly<Record<string, string>> | undefined
  /** Headers of the request that workers receive as Temporal headers. */
  forwardedHeaders?: Readonly<Record<string, string>>
  /** Adds fields to the request's log line. */
  note(fields: Record<string, unknown>): void
  /** Sets the error of the request's log line, for a response that reports an error as a success. */
  reportError(error: Error): void
  /** Sets what the audit log says about the request. Later facts add to earlier ones. */
  audit(facts: Partial<AuditFacts>): void
  /** Marks the request as only waiting from now on: it no longer counts towards the limit on requests in flight. */
  startWaiting(): void
  /** Adds a header to the response: the output of the workflow or handler does not match its schema. */
  warnOfOutput(message: string): void
  /** Logs a warning that concerns more than this request. */
  warn(message: string, fields: Record<string, unknown>): void
}

/** The abort reason at shutdown. */
export const SHUTTING_DOWN = new DOMException('the service is shutting down', 'AbortError')

/** The abort reason of a request that waits when the credential of its caller expires. */
export const CREDENTIAL_EXPIRED = new DOMException('the credential has expired', 'AbortError')

/** Whether the service has aborted the request. Unlike after a disconnect, the client still receives the response. */
export function isAbortedByService({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason === SHUTTING_DOWN || reason === CREDENTIAL_EXPIRED)
}

/**
 * A call of the service itself, for example a read that several requests share: no request aborts it or logs its facts.
 */
export function backgroundCall(name: string, timeoutMs: number): Call {
  const { signal } = new AbortController()
  const nowhere = { note() {}, reportError() {}, audit() {}, startWaiting() {}, warnOfOutput() {}, warn() {} }
  return { signal, deadlineAt: Date.now() + timeoutMs, requestId: name, ...nowhere }
}

/**
 * The same call with `timeoutMs` from now on, and a signal that never aborts:
 * for a last read after the call was aborted.
 */
export function unabortable(call: Call, timeoutMs: number): Call {
  const { signal } = new AbortController()
  return { ...withTimeout(call, timeoutMs), signal }
}

/**
 * The same for a read that explains an error. At shutdown it has less time, because the response must be sent before
 * the process ends.
 */
export function forExplanation(call: Call, timeoutMs: number): Call {
  return unabortable(call, call.signal.aborted ? TIMEOUT_MS.explanationAtShutdown : timeoutMs)
}

/** The same call with `timeoutMs` from now on. */
export function withTimeout(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Date.now() + timeoutMs }
}

/** The same call with at most `timeoutMs` from now on. */
export function atMost(call: Call, timeoutMs: number): Call {
  return { ...call, deadlineAt: Math.min(call.deadlineAt, Date.now() + timeoutMs) }
}
