/** The parameters of the page are those of `GET /workflow/runs`, so that its URL can be shared. */

const SINGLE = [
  'workflowName',
  'catalog',
  'status',
  'startedAfter',
  'startedBefore',
  'closedAfter',
  'closedBefore',
  'problem',
  'query',
] as const

const ATTRIBUTE = /^searchAttributes\[.+\]$/

/** The parameters that the API takes, of those in the URL. */
export function filterOf(query: URLSearchParams): URLSearchParams {
  const isFilter = (name: string) => (SINGLE as readonly string[]).includes(name) || ATTRIBUTE.test(name)
  return new URLSearchParams([...query].filter(([name, value]) => isFilter(name) && value !== ''))
}

/** The filter with these parameters instead; null removes one. */
export function withFilter(query: URLSearchParams, changes: Record<string, string | null>): URLSearchParams {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    changed.delete(name)
    if (value !== null && value !== '') changed.set(name, value)
  }
  return changed
}

export const WORKFLOW_ID = 'searchAttributes[WorkflowId]'

/** `2026-01-31T12:00` in the zone of the browser as a time in UTC. */
export function toUtc(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().replace(/\.000Z$/, 'Z')
}

/** The value of an input of the type `datetime-local`. */
export function toLocal(utc: string | null): string {
  const at = utc === null ? Number.NaN : new Date(utc).getTime()
  if (Number.isNaN(at)) return ''
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
