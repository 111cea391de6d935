/** A run's history, in the engine's own words: https://docs.temporal.io/references/events */

import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { ExecutionRef } from './execution.ts'

export interface HistoryEvent {
  eventId: number
  /** `WorkflowExecutionStarted`; `Unknown` for an event of a newer engine. */
  eventType: string
  eventTime: Date | null
  /** The attributes of the event. */
  [attribute: string]: unknown
}

/** Where a reader of the history continues. */
export interface HistoryPosition {
  /** Id of the last event that was returned; 0 at the beginning. */
  after: number
  /** The engine's token of the page with the next event; null for the first page. */
  page: string | null
  /** The engine's token for waiting for the next event, if there was none. */
  live: string | null
}

export const HISTORY_START: HistoryPosition = { after: 0, page: null, live: null }

/** Which events of a history are read. */
export interface EventsRange {
  from: HistoryPosition
  maxEvents: number
  /** How long to wait for at least one event; 0 returns what there is. */
  waitMs: number
}

export interface EventsRequest extends EventsRange {
  values: EventValues
}

export interface EventValues {
  /** False leaves out everything that workers and clients have encoded: arguments, results, memos, headers. */
  payloads: boolean
  /** Replaces these values, and the messages of failures, by `[redacted]`. */
  redacted: boolean
}

/** Events, or what the service makes of them. */
export interface EventPage<Event = HistoryEvent> {
  events: Event[]
  next: HistoryPosition
  /** How the run ended, if the page has its last event. */
  end: { status: Status; completedAt: Date | null } | null
}

/** A run, as a page of its history shows it. */
export interface HistoryRun extends RunRef {
  status: Status
  startedAt: Date | null
  completedAt: Date | null
  historyLength: number
  catalog: string
}

export interface HistoryCommand {
  ref: ExecutionRef
  pageSize: number
  /** From the previous page; null for the first page. */
  pageToken: string | null
  /** How long to wait for the next event of an open run. */
  waitMs: number
  includePayloads: boolean
}

export interface RunHistory {
  workflow: HistoryRun
  events: HistoryEvent[]
  /** Null after the last event of a closed run. */
  nextPageToken: string | null
}

export interface FollowTraceCommand {
  ref: ExecutionRef
  /** Id of the last event that the client has; 0 for none. */
  after: number
}

export interface FollowCommand extends FollowTraceCommand {
  includePayloads: boolean
}

export interface HistoryFeed<Event = HistoryEvent> {
  /** As it was before the first page. */
  workflow: HistoryRun
  /** Ends after the last event of the run, or when the call is aborted. Reads a page when it is requested. */
  pages: AsyncIterable<HistoryFeedPage<Event>>
}

export interface HistoryFeedPage<Event = HistoryEvent> {
  events: Event[]
  /** Id of the last event of the history that was read. */
  last: number
  /** The closed run, if the page has its last event. */
  closed: HistoryRun | null
}
