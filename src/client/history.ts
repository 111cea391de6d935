/** The events of a run. */
import type { HistoryOptions } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { type Pages, toPages } from './pages.ts'
import type { HistoryEvent, HistoryPage } from './responses.ts'

// The API waits at most this long for an event.
const MAX_WAIT_MS = 60_000

/** The events of a run. With `follow` it ends with the run, otherwise with the last recorded event. */
export function historyPages(
  connection: Connection,
  path: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY, follow = false, ...query }: HistoryOptions,
): Pages<HistoryEvent, HistoryPage> {
  async function read(pageToken = query.pageToken): Promise<HistoryPage> {
    const get = { method: 'GET', path: `${path}/history` }
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
    key: 'events',
    nextToken: ({ events, nextPageToken }) => (follow || events.length > 0 ? nextPageToken : null),
  })
}
