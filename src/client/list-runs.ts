import type { ListOptions } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { type Pages, toPages } from './pages.ts'
import type { ListedRun, RunPage } from './responses.ts'

export function listRuns(
  connection: Connection,
  { signal, timeoutMs, searchAttributes = {}, ...filter }: ListOptions,
): Pages<ListedRun, RunPage> {
  const attributes = Object.entries(searchAttributes).map(([name, value]) => [`searchAttributes[${name}]`, value])
  const query = { ...filter, ...Object.fromEntries(attributes) }
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
