/** What schedules look like. */
import {
  any,
  array,
  boolean,
  described,
  enumOf,
  integer,
  number,
  object,
  orNull,
  ref,
  type Schema,
  string,
  time,
} from '../../http/openapi/schema.ts'
import {
  CALENDAR_FIELDS,
  type ListedSchedule,
  OVERLAPS,
  type Schedule,
  type ScheduledRun,
  type ScheduleInfo,
  type SchedulePage,
  type When,
} from '../../model/schedule.ts'
import type { RetryOptions, WorkflowOptions } from '../../model/workflow-options.ts'

const anyByName = { type: 'object', additionalProperties: {} }
const scheduleId = string
const texts = Object.fromEntries([...CALENDAR_FIELDS, 'comment'].map((field) => [field, string]))
const calendars = array(ref('ScheduleCalendar'))
const next = described(array(time), 'The next times; empty while the schedule is paused')
const note = orNull(string)

type Options = Required<
  Omit<WorkflowOptions, 'cronSchedule' | 'memo' | 'startDelayMs' | 'workflowIdConflictPolicy' | 'workflowIdReusePolicy'>
>

const options: { [Name in keyof Options]: Schema } = {
  searchAttributes: described(anyByName, 'Values by name'),
  headers: described(anyByName, 'Temporal headers by name'),
  executionTimeoutMs: integer,
  runTimeoutMs: integer,
  taskTimeoutMs: integer,
  retry: object<Required<RetryOptions>>(
    {
      initialIntervalMs: integer,
      backoffCoefficient: number,
      maximumIntervalMs: integer,
      maximumAttempts: integer,
      nonRetryableErrorTypes: array(string),
    },
    {
      optional: [
        'initialIntervalMs',
        'backoffCoefficient',
        'maximumIntervalMs',
        'maximumAttempts',
        'nonRetryableErrorTypes',
      ],
    },
  ),
  priority: ref('Priority'),
  versioningOverride: any,
  summary: string,
  details: string,
}

type Body = Omit<Schedule, 'options'> & Options

export const scheduleSchemas = {
  Schedule: object<Body>(
    {
      scheduleId,
      version: described(string, 'Changes with the document, with a pause, and with each run of a limited number'),
      workflowName: string,
      workflowId: described(string, 'Runs have the id `<workflowId>-<time>`'),
      catalog: string,
      args: array(any),
      memo: orNull(anyByName),
      ...options,
      when: ref('ScheduleWhen'),
      overlap: enumOf(OVERLAPS),
      catchupWindowMs: integer,
      pauseOnFailure: boolean,
      paused: boolean,
      note,
      remainingRuns: described(orNull(integer), 'Null for no limit'),
      set: orNull(object<{ name: string; digest: string }>({ name: string, digest: string })),
      info: object<ScheduleInfo>({
        runs: described(integer, 'How many runs were started'),
        skipped: described(integer, 'How many times passed while a run was open'),
        missed: described(integer, 'How many times passed outside the catchup window'),
        next,
        recent: array(ref('ScheduledRun')),
        running: array(ref('RunIds')),
        createdAt: orNull(time),
        updatedAt: orNull(time),
      }),
    },
    { optional: Object.keys(options) as (keyof Options)[] },
  ),
  ScheduleWhen: object<Omit<When, 'cron'>>(
    {
      every: array(
        object<{ interval: number; offset: number }>({ interval: integer, offset: integer }, { optional: ['offset'] }),
      ),
      calendars,
      except: calendars,
      timeZone: string,
      from: time,
      until: time,
      jitter: integer,
    },
    { optional: ['every', 'calendars', 'except', 'timeZone', 'from', 'until', 'jitter'] },
  ),
  ScheduleCalendar: { type: 'object', properties: texts },
  ScheduledRun: object<ScheduledRun>({
    scheduledAt: orNull(time),
    startedAt: orNull(time),
    workflowId: string,
    runId: string,
  }),
  SchedulePage: object<SchedulePage>({
    schedules: array(
      object<ListedSchedule>({
        scheduleId,
        workflowName: string,
        paused: boolean,
        note,
        when: ref('ScheduleWhen'),
        next,
        recent: array(ref('ScheduledRun')),
      }),
    ),
    nextPageToken: described(orNull(string), '`pageToken` of the next page; null after the last one'),
  }),
  ScheduleTimes: object<{ times: Date[]; complete: boolean }>({
    times: array(time),
    complete: described(boolean, 'False if there may be more times: the list has at most 1000'),
  }),
  DeletedSchedule: object<{ scheduleId: string; deleted: boolean }>({ scheduleId, deleted: boolean }),
  PausedSchedule: object<{ scheduleId: string; paused: boolean }>({ scheduleId, paused: boolean }),
  AcceptedBySchedule: object<{ scheduleId: string; accepted: boolean }>({ scheduleId, accepted: boolean }),
} satisfies Record<string, Schema>
