/** Standalone activities, which belong to no workflow. Their ids are a space of their own. */
import type { Closing, ErrorDetails, Status } from '../../shared/wire/execution.ts'
import type { Call } from './call.ts'
import { type ErrorFacts, ServiceError } from './errors.ts'
import type { VisibleRuns } from './run-filter.ts'
import type { WorkflowOptions } from './workflow-options.ts'

/** A standalone activity; without `runId` the latest run of that id. */
export interface StandaloneRef {
  activityId: string
  runId?: string
}

export type StandaloneRun = Required<StandaloneRef>

export const ACTIVITY_STATUSES = [
  'running',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
] as const satisfies readonly Status[]

export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number]

export interface ActivityLimits {
  startToCloseTimeoutMs: number
  scheduleToCloseTimeoutMs: number
  scheduleToStartTimeoutMs?: number
  heartbeatTimeoutMs?: number
}

/** A start that the engine can carry out. Of the options, the engine has those of `StartActivityCommand`. */
export interface EngineActivity {
  activityId: string
  activityName: string
  /** The task queue. */
  catalog: string
  args: unknown[]
  limits: ActivityLimits
  options?: WorkflowOptions
  /** In the header `portico-key`: which request with a key has started the run. */
  startKey?: Readonly<{ key: string; request: string }>
  /** The engine starts one run for all starts with this id, as long as that run is the latest. Default: random. */
  requestId?: string
}

/** `isExisting` is set for an open run that was found instead of starting one (`use-existing`). */
export type StartedActivity = StandaloneRun & { isExisting?: true }

/** What the engine keeps about a run. */
export interface DescribedActivity extends StandaloneRun {
  activityName: string
  catalog: string
  status: ActivityStatus
  startedAt: Date | null
  completedAt: Date | null
  /** The current attempt. */
  attempt: number
  /** Null unless the activity waits for its next attempt. */
  nextAttemptAt: Date | null
  cancelRequested: boolean
  /** Whether an attempt is running. Otherwise the engine takes only a completion. */
  isStarted: boolean
  searchAttributes: Readonly<Record<string, unknown>>
  /** Null for a run that was started without a key. */
  startKey: Readonly<{ key: string; request: string }> | null
  /** Whether the report with this mark has ended an attempt. */
  isMarked(mark: string): boolean
  lastFailure(): Promise<{ name: string; message: string } | null>
  /** The details of the last heartbeat; null without any. */
  progress(): Promise<{ details: unknown; heartbeatAt: Date | null } | null>
}

/** A run with its input, and how it has ended; null while it is open. */
export interface ReadActivity extends DescribedActivity {
  input: unknown
  closing: Closing | null
}

/** Always these seven keys. */
export interface ActivityResult extends StandaloneRun {
  status: Status
  input: unknown
  output: unknown
  error: string | null
  errorDetails: ErrorDetails | null
}

export interface ActivityState
  extends Omit<
    DescribedActivity,
    'isMarked' | 'isStarted' | 'lastFailure' | 'progress' | 'searchAttributes' | 'startKey'
  > {
  lastFailure: Awaited<ReturnType<DescribedActivity['lastFailure']>>
  progress: Awaited<ReturnType<DescribedActivity['progress']>>
  searchAttributes: Record<string, unknown>
}

export interface ListedActivity extends StandaloneRun {
  activityName: string
  catalog: string
  status: ActivityStatus
  startedAt: Date | null
  completedAt: Date | null
}

export interface ActivityFilter {
  activityName?: string
  catalog?: string
  status?: ActivityStatus
  /** A condition in Temporal's list filter language. */
  query?: string
  /** Those that the caller may see: `workflows` are patterns of types. */
  visible?: readonly VisibleRuns[]
}

export interface ActivityPage {
  activities: ListedActivity[]
  nextPageToken: string | null
}

/** Port: the calls of an engine about standalone activities. */
export interface ActivityEngine {
  /** Whether the engine has standalone activities in the namespace. */
  activitiesSupported(call: Call): Promise<boolean>

  /**
   * Starts one run of a standalone activity, even when the call is retried. Rejects as `start` does, with
   * `ActivityAlreadyStartedError` when the id is in use.
   */
  startActivity(activity: EngineActivity, call: Call): Promise<StartedActivity>

  /** Rejects with `ActivityNotFoundError`, as all calls about a standalone activity do. */
  describeActivity(ref: StandaloneRef, call: Call): Promise<DescribedActivity>

  readActivity(ref: StandaloneRef, call: Call): Promise<ReadActivity>

  /** Waits for this run to close, as `wait` does. */
  waitForActivity(run: StandaloneRun, call: Call): Promise<Closing | null>

  /** Requests cancellation. False if the run is closed. */
  cancelActivity(run: StandaloneRun, reason: string | null, call: Call): Promise<boolean>

  /** Rejects with `ActivityNotRunningError` when the run is closed. */
  terminateActivity(run: StandaloneRun, reason: string | null, call: Call): Promise<void>

  /** The activities that match the filter, open ones first. `token` is the `nextToken` of the previous page. */
  listActivities(
    filter: ActivityFilter,
    page: { size: number; token: string | null },
    call: Call,
  ): Promise<{ activities: ListedActivity[]; nextToken: string | null }>
}

export function activityNotFound(ref: StandaloneRef, cause?: unknown): ServiceError {
  const { activityId, runId } = ref
  const message =
    runId === undefined ? `Activity ${activityId} not found` : `Activity ${activityId} has no run ${runId}`
  return new ServiceError('ActivityNotFoundError', message, { cause, details: { ...ref } })
}

/** `details.runId` is the run that uses the id. */
export function activityIdInUse(details: ErrorFacts, cause?: unknown): ServiceError {
  const message = `Activity id ${details.activityId} is in use`
  return new ServiceError('ActivityAlreadyStartedError', message, { cause, details })
}

export function activityNotRunning(
  { activityId, runId, status }: StandaloneRun & { status?: ActivityStatus },
  cause?: unknown,
) {
  const state = status === undefined ? '' : `; its status is ${status}`
  return new ServiceError('ActivityNotRunningError', `Activity ${activityId} is not running${state}`, {
    cause,
    details: { activityId, runId, ...(status && { activityStatus: status }) },
  })
}
