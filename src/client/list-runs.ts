import type { ListOptions } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { type Pages, toPages } from './pages.ts'
import type { ListedRun, RunFilter, RunPage } from './responses.ts'

export function listRuns(
  connection: Connection,
  { signal, timeoutMs, ...filter }: ListOptions,
): Pages<ListedRun, RunPage> {
  const query = filterQuery(filter)
  return toPages({
    read: (pageToken = filter.pageToken) =>
      connection.send(
        { method: 'GET', path: '/workflow/runs', query: { ...query, pageToken }, isRetryable: true },
        { signal, timeoutMs },
      ),
    itemsOf: ({ runs }) => runs,
    nextToken: ({ nextPageToken }) => nextPageToken,
  })
}

/** The parameters of a filter in the URL, with others that are given. */
export function filterQuery({ searchAttributes = {}, ...filter }: RunFilter): Record<string, unknown> {
  const attributes = Object.entries(searchAttributes).map(([name, value]) => [`searchAttributes[${name}]`, value])
  return { ...filter, ...Object.fromEntries(attributes) }
}
