/** Schedules, in the words of the API. */
import type { ScheduleMark, ScheduleSet } from '../../shared/wire/schedule-mark.ts'
import { ServiceError } from './errors.ts'
import type { VisibleRuns } from './run-filter.ts'
import type { WorkflowOptions } from './workflow-options.ts'

/** What happens at a time at which the previous run is still open. */
export const OVERLAPS = ['skip', 'buffer-one', 'buffer-all', 'cancel-other', 'terminate-other', 'allow-all'] as const

export type Overlap = (typeof OVERLAPS)[number]

/** The fields of a calendar: numbers, ranges, names, or `*`. */
export const CALENDAR_FIELDS = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'year', 'dayOfWeek'] as const

export type Calendar = { [Field in (typeof CALENDAR_FIELDS)[number] | 'comment']?: string }

/** Milliseconds. */
export interface Every {
  interval: number
  offset?: number
}

/** When a schedule acts. */
export interface When {
  /** Only in requests: the engine keeps calendars. */
  cron?: readonly string[]
  every?: readonly Every[]
  calendars?: readonly Calendar[]
  except?: readonly Calendar[]
  timeZone?: string
  from?: string
  until?: string
  jitter?: number
}

/** How a schedule acts. */
export interface SchedulePolicies {
  overlap: Overlap
  catchupWindowMs: number
  pauseOnFailure: boolean
}

export interface ScheduleState {
  paused: boolean
  note: string | null
  /** How many runs the schedule still starts; null for no limit. */
  remainingRuns: number | null
}

/** A schedule as a request describes it: what it starts, and when. */
export interface ScheduleDocument extends SchedulePolicies, ScheduleState {
  when: When
  /** Who applies it together with others. */
  set: ScheduleSet | null
}

/** What the engine keeps of a schedule. */
export interface Schedule extends SchedulePolicies, ScheduleState {
  scheduleId: string
  /** Changes with the document, with a pause, and with each run while their number is limited. */
  version: string
  workflowName: string
  workflowId: string
  catalog: string
  args: unknown[]
  /** Null if it could not be decoded. */
  memo: Readonly<Record<string, unknown>> | null
  options: WorkflowOptions
  when: When
  set: ScheduleSet | null
  info: ScheduleInfo
}

export interface ScheduleInfo {
  /** How many runs it has started. */
  runs: number
  /** How many times were skipped because a run was open. */
  skipped: number
  /** How many times have passed outside the catchup window. */
  missed: number
  next: Date[]
  recent: ScheduledRun[]
  running: { workflowId: string; runId: string }[]
  createdAt: Date | null
  updatedAt: Date | null
}

export interface ScheduledRun {
  scheduledAt: Date | null
  startedAt: Date | null
  workflowId: string
  runId: string
}

/** What the engine keeps. Without `read`, nothing is decoded. */
export interface DescribedSchedule {
  version: string
  /** Null if another client has written it. */
  mark: ScheduleMark | null
  workflowName: string
  paused: boolean
  read(): Promise<Schedule>
}

/** A row of a list. */
export interface ListedSchedule {
  scheduleId: string
  workflowName: string
  paused: boolean
  note: string | null
  when: When
  next: Date[]
  recent: ScheduledRun[]
}

export interface ScheduleFilter {
  paused?: boolean
  /** A condition in Temporal's list filter language. */
  query?: string
  /** Those that the caller may see: `ids` are of schedules. */
  visible?: readonly VisibleRuns[]
}

/** What must hold before a schedule is replaced. */
export interface Precondition {
  /** It has one of these versions; `*`: it exists. */
  ifMatch?: '*' | readonly string[]
  /** It does not exist. */
  ifNoneMatch?: '*'
}

export interface OnSchedule {
  scheduleId: string
}

export interface PauseScheduleCommand extends OnSchedule {
  reason: string | null
}

export interface TriggerScheduleCommand extends OnSchedule {
  overlap: Overlap | null
}

export interface BackfillScheduleCommand extends TriggerScheduleCommand {
  from: string
  until: string
}

export interface ScheduleTimesCommand extends OnSchedule {
  from: string
  until: string
}

export interface ListSchedulesCommand {
  filter: ScheduleFilter
  pageSize: number
  pageToken: string | null
}

export interface SchedulePage {
  schedules: ListedSchedule[]
  nextPageToken: string | null
}

/** The engine's own limit for one list of times. */
export const MAX_SCHEDULE_TIMES = 1000

/** What is done to a schedule besides replacing it. */
export type ScheduleChange =
  | { kind: 'pause'; reason: string | null }
  | { kind: 'unpause'; reason: string | null }
  | { kind: 'trigger'; overlap: Overlap | null }
  | { kind: 'backfill'; overlap: Overlap | null; from: string; until: string }

export function scheduleNotFound(scheduleId: string, cause?: unknown): ServiceError {
  return new ServiceError('ScheduleNotFoundError', `Schedule ${scheduleId} not found`, {
    cause,
    details: { scheduleId },
  })
}
