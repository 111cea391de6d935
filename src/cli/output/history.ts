import type { HistoryEvent, HistoryPage } from '../../client/responses.ts'
import { isObject } from '../../lib/is-object.ts'
import { paintStatus } from './paint.ts'
import { rowsOf, table } from './table.ts'
import { cellOf, fieldText, timeCell } from './value.ts'

/** What identifies the subject of an event, in the order in which it is chosen. */
const SUBJECTS = ['activityType', 'workflowType', 'signalName', 'updateName', 'timerId', 'markerName']

export function renderHistory({ workflow, events, nextPageToken }: HistoryPage, columns: number): string {
  const list = [
    `${cellOf(workflow.workflowId)} ${paintStatus(cellOf(workflow.status))}`,
    table(['Event', 'Time (UTC)', 'Type', 'Subject'], events.map(cellsOf), columns),
  ].join('\n\n')
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}

// Of the usual ids and types: events that arrive later stand below each other.
const WIDTHS = [5, 19, 32]

/** Events without titles, as they arrive. */
export function renderEvents(events: HistoryEvent[]): string {
  return rowsOf(events.map(cellsOf), WIDTHS)
}

function cellsOf(event: HistoryEvent): string[] {
  return [cellOf(event.eventId), timeCell(event.eventTime), cellOf(event.eventType), subjectOf(event)]
}

function subjectOf(event: HistoryEvent): string {
  const failure = isObject(event.failure) ? fieldText(event.failure.message) : null
  const subjects = SUBJECTS.map((key) => event[key]).map((value) => fieldText(isObject(value) ? value.name : value))
  return [...subjects.filter((subject) => subject !== null).slice(0, 1), ...(failure === null ? [] : [failure])].join(
    ': ',
  )
}
