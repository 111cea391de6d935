/** The lists of the client: runs, and the events of a run. */
import type { HistoryOptions, ListOptions, QuestionOptions } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { type Pages, toPages } from './pages.ts'
import type { HistoryEvent, HistoryPage, ListedRun, Question, QuestionPage, RunFilter, RunPage } from './responses.ts'

export function runPages(connection: Connection, options: ListOptions): Pages<ListedRun, RunPage> {
  return filteredPages(connection, '/workflow/runs', options, ({ runs }) => runs)
}

export function questionPages(connection: Connection, options: QuestionOptions): Pages<Question, QuestionPage> {
  return filteredPages(connection, '/questions', options, ({ questions }) => questions)
}

function filteredPages<Item, Page extends { nextPageToken: string | null }>(
  connection: Connection,
  path: string,
  { signal, timeoutMs, ...filter }: ListOptions | QuestionOptions,
  itemsOf: (page: Page) => Item[],
): Pages<Item, Page> {
  const query = filterQuery(filter)
  return toPages({
    read: (pageToken = filter.pageToken) =>
      connection.send(
        { method: 'GET', path, query: { ...query, pageToken }, isRetryable: true },
        { signal, timeoutMs },
      ),
    itemsOf,
    nextToken: ({ nextPageToken }) => nextPageToken,
  })
}

/** The parameters of a filter in the URL, with others that are given. */
export function filterQuery({ searchAttributes = {}, ...filter }: RunFilter): Record<string, unknown> {
  const attributes = Object.entries(searchAttributes).map(([name, value]) => [`searchAttributes[${name}]`, value])
  return { ...filter, ...Object.fromEntries(attributes) }
}

// The API waits at most this long for an event.
const MAX_WAIT_MS = 60_000

/** The events of a run. With `follow` it ends with the run, otherwise with the last recorded event. */
export function historyPages(
  connection: Connection,
  path: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY, follow = false, ...query }: HistoryOptions,
): Pages<HistoryEvent, HistoryPage> {
  async function read(pageToken = query.pageToken): Promise<HistoryPage> {
    const get = { method: 'GET', path: `${path}/history`, isRetryable: true }
    if (!follow) return connection.send({ ...get, query: { ...query, pageToken } }, { signal, timeoutMs })
    const toRequest = (maxWaitMs: number) => {
      const waitMs = Math.min(maxWaitMs, MAX_WAIT_MS)
      return { ...get, query: { ...query, pageToken, wait: waitMs }, waitMs }
    }
    const { body } = await connection.sendWaiting(toRequest, { signal, timeoutMs, deadlineAt: Date.now() + timeoutMs })
    return body as HistoryPage
  }

  return toPages({
    read,
    itemsOf: ({ events }) => events,
    nextToken: ({ events, nextPageToken }) => (follow || events.length > 0 ? nextPageToken : null),
  })
}
