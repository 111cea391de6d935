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
export function filterOfQuery(query: URLSearchParams): URLSearchParams {
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
