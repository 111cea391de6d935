import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../../command.ts'
import { EXIT } from '../../exit-code.ts'
import { readInteger } from '../../flags/number-flags.ts'
import { cellOf, table, timeCell } from '../../output/table.ts'
import { paintStatus } from '../../output/terminal.ts'

interface Page {
  activities: {
    activityId: string
    runId: string
    status: string
    activityName: string
    startedAt: string | null
  }[]
  nextPageToken: string | null
}

type ListFlags = CommonFlags & Record<'name' | 'pageSize' | 'pageToken' | 'query' | 'status', string | undefined>

/** `portico activity ls`. */
export function listActivities(flags: ListFlags): Promise<void> {
  return callService(flags, async ({ client, signal, columns, show }) => {
    const { name: activityName, status, query, pageToken, pageSize } = flags
    const size = pageSize === undefined ? {} : { pageSize: readInteger('--page-size', pageSize) }
    const options = { query: { activityName, status, query, pageToken, ...size }, signal, timeoutMs: READ_TIMEOUT_MS }
    show((await client.request('GET', '/activity/runs', options)) as Page, (page) => renderPage(page, columns))
    return EXIT.completed
  })
}

function renderPage({ activities, nextPageToken }: Page, columns: number): string {
  const rows = activities.map(({ status, activityName, activityId, startedAt }) => [
    paintStatus(cellOf(status)),
    cellOf(activityName),
    cellOf(activityId),
    timeCell(startedAt),
  ])
  const list =
    rows.length === 0 ? 'No activities.' : table(['Status', 'Activity', 'Id', 'Started (UTC)'], rows, columns)
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}
