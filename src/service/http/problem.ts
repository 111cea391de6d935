/** The body of every error response (RFC 9457), also of requests that the server rejects before they reach the app. */
import type { ErrorName } from '../model/errors.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** Of every response that says nothing else: the next one can be different. */
export const NOT_STORED = { 'Cache-Control': 'no-store' } as const

export interface ProblemFields<Status extends number = number> {
  status: Status
  /** Name of the error, which never changes. */
  error: ErrorName
  title: string
  message: string
  /** What rejected the request; `gateway` when absent. */
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
}: ProblemFields<Status>) {
  // The anchor that GitHub makes of the heading of the error's section.
  const type = docsUrl(`errors.md#${error.toLowerCase()}`)
  return { type, title, status, detail: message, error, message, source, requestId }
}

/** With the header a client can distinguish errors of this service from those of a proxy, also if there is no body. */
export function problemHeaders({ source }: { source: string }): Record<string, string> {
  return { 'Content-Type': PROBLEM_TYPE, 'Portico-Error-Source': source, ...NOT_STORED }
}

// The same pages are in the package, below docs/.
const DOCS = 'https://github.com/portico/portico/blob/main/docs'

/** The URL of a page of the documentation, for responses. */
export function docsUrl(page: `${string}.md` | `${string}.md#${string}`): string {
  return `${DOCS}/${page}`
}
