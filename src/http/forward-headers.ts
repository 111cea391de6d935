import type { Step } from './step.ts'

/** Forwards these request headers to workers, as Temporal headers with lower-case names. */
export function forwardHeaders(names: readonly string[]): Step {
  return (c) => {
    const headers = names.flatMap((name): [string, string][] => {
      const value = c.req.header(name)
      return value === undefined ? [] : [[name, value]]
    })
    c.set('forwardedHeaders', Object.fromEntries(headers))
  }
}
