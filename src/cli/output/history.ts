import type { HistoryEvent, HistoryPage } from '../../client/responses.ts'
import { isObject } from '../../lib/is-object.ts'
import { paintStatus } from './paint.ts'
import { table } from './table.ts'
import { cellOf, fieldText, timeCell } from './value.ts'

/** What identifies the subject of an event, in the order in which it is chosen. */
const SUBJECTS = ['activityType', 'workflowType', 'signalName', 'updateName', 'timerId', 'markerName']

export function renderHistory({ workflow, events, nextPageToken }: HistoryPage): string {
  const rows = events.map((event) => [
    cellOf(event.eventId),
    timeCell(event.eventTime),
    cellOf(event.eventType),
    subjectOf(event),
  ])
  const list = [
    `${cellOf(workflow.workflowId)} ${paintStatus(cellOf(workflow.status))}`,
    table(['Event', 'Time (UTC)', 'Type', 'Subject'], rows),
  ].join('\n\n')
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}

function subjectOf(event: HistoryEvent): string {
  const failure = isObject(event.failure) ? fieldText(event.failure.message) : null
  const subjects = SUBJECTS.map((key) => event[key]).map((value) => fieldText(isObject(value) ? value.name : value))
  return [...subjects.filter((subject) => subject !== null).slice(0, 1), ...(failure === null ? [] : [failure])].join(
    ': ',
  )
}
