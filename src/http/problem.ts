/** RFC 9457, with what plain clients look for: the one body of every refusal, also of those that never reach the app. */
export const PROBLEM_TYPE = 'application/problem+json'

export interface Problem<Status extends number = number> {
  status: Status
  /** Stable name. */
  error: string
  title: string
  message: string
  /** Who refused; `gateway` when absent. */
  source?: 'workflow' | 'engine' | 'gateway' | undefined
  requestId: string
}

export function toProblem<Status extends number>({
  status,
  error,
  title,
  message,
  source = 'gateway',
  requestId,
}: Problem<Status>) {
  const type = `urn:portico:error:${error.replace(/\B[A-Z]/g, '-$&').toLowerCase()}`
  return { type, title, status, detail: message, error, message, source, requestId }
}

const ACCEPTED = /^[\w.-]{1,128}$/

/** The caller's own id of a request when it is a plain one, otherwise a new one. */
export function toRequestId(given: string | undefined): string {
  return given !== undefined && ACCEPTED.test(given) ? given : crypto.randomUUID()
}
