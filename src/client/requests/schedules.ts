/** The client's schedules: docs/api/schedules.md. */
import type * as domain from '../../service/model/schedule.ts'
import type { WorkflowOptions } from '../../service/model/workflow-options.ts'
import type { AsJson } from '../catalog-types.ts'
import type { Connection } from '../connection/connection.ts'
import type { CallOptions } from '../connection/options.ts'
import { type Pages, toPages } from '../pages.ts'
import { pathSegment } from '../target.ts'
import type { ArgumentsAs, Duration, StartOptions } from './start-options.ts'

export type Overlap = domain.Overlap

/** When a schedule acts. At least one of `cron`, `every` and `calendars`. */
export interface ScheduleWhen {
  cron?: readonly string[]
  every?: readonly { interval: Duration; offset?: Duration }[]
  calendars?: readonly domain.Calendar[]
  except?: readonly domain.Calendar[]
  timeZone?: string
  from?: string
  until?: string
  jitter?: Duration
}

type ScheduledOptions = Omit<
  StartOptions,
  | keyof CallOptions
  | 'cronSchedule'
  | 'idempotencyKey'
  | 'startDelay'
  | 'workflowIdConflictPolicy'
  | 'workflowIdReusePolicy'
>

export type ScheduleDocument = ScheduledOptions &
  ArgumentsAs<readonly unknown[], 'input'> & {
    workflowName: string
    when: ScheduleWhen
    overlap?: Overlap
    catchupWindow?: Duration
    pauseOnFailure?: boolean
    paused?: boolean
    note?: string
    remainingRuns?: number
    set?: { name: string; digest: string }
  }

export type Schedule = AsJson<Omit<domain.Schedule, 'options'>> &
  Omit<WorkflowOptions, 'memo' | 'searchAttributes'> & { searchAttributes?: Record<string, unknown> }

export type ListedSchedule = AsJson<domain.ListedSchedule>
export type SchedulePage = AsJson<domain.SchedulePage>

export interface PutScheduleOptions extends CallOptions {
  /** The `version` to replace; `*` if it only must exist. Otherwise `PreconditionFailedError`. */
  ifMatch?: string | undefined
  /** Set if it must not exist. */
  ifNoneMatch?: '*' | undefined
}

export interface ScheduleListOptions extends CallOptions {
  paused?: boolean | undefined
  query?: string | undefined
  pageSize?: number | undefined
  pageToken?: string | undefined
}

export interface Schedules {
  /** Creates a schedule, or replaces it. */
  put(scheduleId: string, document: ScheduleDocument, options?: PutScheduleOptions): Promise<Schedule>
  get(scheduleId: string, options?: CallOptions): Promise<Schedule>
  /** Its runs go on. */
  delete(scheduleId: string, options?: CallOptions): Promise<{ scheduleId: string; deleted: boolean }>
  pause(scheduleId: string, request?: CallOptions & { reason?: string }): Promise<PausedSchedule>
  unpause(scheduleId: string, request?: CallOptions & { reason?: string }): Promise<PausedSchedule>
  /** Starts a run now. Not repeated if the response is lost. */
  trigger(scheduleId: string, request?: CallOptions & { overlap?: Overlap }): Promise<AcceptedBySchedule>
  /** Starts the runs of a range of time, both ends included. Not repeated if the response is lost. */
  backfill(
    scheduleId: string,
    request: CallOptions & { from: string; until: string; overlap?: Overlap },
  ): Promise<AcceptedBySchedule>
  /** The times at which it acts, both ends included. */
  times(
    scheduleId: string,
    range: CallOptions & { from: string; until: string },
  ): Promise<{ times: string[]; complete: boolean }>
  /** The newest first. */
  list(options?: ScheduleListOptions): Pages<ListedSchedule, SchedulePage>
}

export interface PausedSchedule {
  scheduleId: string
  paused: boolean
}

export interface AcceptedBySchedule {
  scheduleId: string
  accepted: boolean
}

export function createSchedules({ send }: Connection, catalog: string | undefined): Schedules {
  const pathOf = (scheduleId: string) => `/schedules/${pathSegment(scheduleId, 'a schedule id')}`

  function post<Body>(name: string, isRetryable: boolean) {
    return (scheduleId: string, { signal, timeoutMs, ...body }: CallOptions = {}): Promise<Body> =>
      send({ method: 'POST', path: `${pathOf(scheduleId)}/${name}`, body, isRetryable }, { signal, timeoutMs })
  }

  return {
    async put(scheduleId, document, { ifMatch, ifNoneMatch, ...options } = {}) {
      const headers = {
        ...(ifMatch !== undefined && { 'If-Match': ifMatch === '*' ? '*' : `"${ifMatch}"` }),
        ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
      }
      const body = { ...(catalog !== undefined && { catalog }), ...document }
      return send({ method: 'PUT', path: pathOf(scheduleId), body, headers, isRetryable: true }, options)
    },
    get: async (scheduleId, options) => send({ method: 'GET', path: pathOf(scheduleId), isRetryable: true }, options),
    delete: async (scheduleId, options) =>
      send({ method: 'DELETE', path: pathOf(scheduleId), isRetryable: true }, options),
    pause: post('pause', true),
    unpause: post('unpause', true),
    trigger: post('trigger', false),
    backfill: post('backfill', false),
    times: async (scheduleId, { signal, timeoutMs, ...query }) =>
      send({ method: 'GET', path: `${pathOf(scheduleId)}/times`, query, isRetryable: true }, { signal, timeoutMs }),
    list: ({ signal, timeoutMs, ...filter } = {}) =>
      toPages({
        read: (pageToken = filter.pageToken) =>
          send(
            { method: 'GET', path: '/schedules', query: { ...filter, pageToken }, isRetryable: true },
            { signal, timeoutMs },
          ),
        itemsOf: ({ schedules }: SchedulePage) => schedules,
        nextToken: ({ nextPageToken }) => nextPageToken,
      }),
  }
}
