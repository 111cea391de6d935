/** The client's schedules: docs/api/schedules.md. */
import type * as domain from '../../service/model/schedule.ts'
import type { WorkflowOptions } from '../../service/model/workflow-options.ts'
import type { AsJson } from '../catalog-types.ts'
import type { Connection } from '../connection/connection.ts'
import type { CallOptions } from '../connection/options.ts'
import type { HttpRequest } from '../connection/request.ts'
import { filteredPages, type Pages } from '../pages.ts'
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
  /** The `version` to replace; `*`: it must exist; null: it must not. Otherwise `PreconditionFailedError`. */
  ifMatch?: string | null | undefined
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

export function createSchedules(connection: Connection, catalog: string | undefined): Schedules {
  /** `given` has the options of the call, and the fields of the body, or the query of a GET. */
  async function send<Body>(
    method: string,
    scheduleId: string,
    { signal, timeoutMs, ...given }: CallOptions = {},
    name = '',
    more: Partial<HttpRequest> = {},
  ): Promise<Body> {
    const path = `/schedules/${pathSegment(scheduleId, 'a schedule')}${name}`
    const fields = method === 'POST' ? { body: given } : { query: given }
    return connection.send({ method, path, ...fields, ...more }, { signal, timeoutMs })
  }

  const post =
    <Request extends CallOptions, Body>(name: string, isRetryable = false) =>
    (scheduleId: string, request?: Request) =>
      send<Body>('POST', scheduleId, request, `/${name}`, { isRetryable })

  return {
    put(scheduleId, document, { ifMatch, ...options } = {}) {
      const given: Record<string, string> = ifMatch ? { 'If-Match': ifMatch === '*' ? ifMatch : `"${ifMatch}"` } : {}
      const headers = ifMatch === null ? { 'If-None-Match': '*' } : given
      return send('PUT', scheduleId, options, '', { headers, body: { catalog, ...document } })
    },
    get: (scheduleId, options) => send('GET', scheduleId, options),
    delete: (scheduleId, options) => send('DELETE', scheduleId, options),
    pause: post('pause', true),
    unpause: post('unpause', true),
    // Not retryable: each would act again.
    trigger: post('trigger'),
    backfill: post('backfill'),
    times: (scheduleId, range) => send('GET', scheduleId, range, '/times'),
    list: (options = {}) => filteredPages(connection, '/schedules', options, 'schedules'),
  }
}
