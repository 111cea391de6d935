/** Steps that set variables of the request. */
import { toRequestId } from './problem.ts'
import type { RequestStep } from './step.ts'

/** Sets the request id, also as a response header, and the other variables that every response needs. */
export function requestId(basePath: string): RequestStep {
  return (c) => {
    const id = toRequestId(c.req.header('X-Request-Id'))
    c.set('requestId', id)
    c.set('basePath', basePath)
    c.set('facts', {})
    c.set('audit', {})
    c.set('headers', { 'X-Request-Id': id })
  }
}

/** Forwards these request headers to workers, as Temporal headers with lower-case names. */
export function forwardHeaders(names: readonly string[]): RequestStep {
  return (c) => {
    const headers = names.flatMap((name): [string, string][] => {
      const value = c.req.header(name)
      return value === undefined ? [] : [[name, value]]
    })
    c.set('forwardedHeaders', Object.fromEntries(headers))
  }
}
