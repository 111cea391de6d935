/** Activities that end outside their worker. */
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { ExecutionRef } from './execution.ts'
import type { RetryOptions } from './workflow-options.ts'

export interface ActivityRef extends RunRef {
  activityId: string
}

/** The failure of an activity, as its code could have thrown it. */
export interface ActivityFailure {
  message: string
  /** The type of the error, by which a retry policy can exclude it. */
  name?: string
  details?: unknown[]
  /** False: the activity is not executed again, whatever its retry policy says. */
  retryable?: boolean
}

/** What the engine receives about an activity. `values` is empty, or has one value. */
export type ActivityReport =
  | { kind: 'complete' | 'cancel' | 'heartbeat'; values: readonly unknown[] }
  | { kind: 'fail'; failure: ActivityFailure }

/** An activity in the history. */
export interface EndedActivity {
  activityType: string
  /** False also while it is open, and if it has failed. */
  completed: boolean
  /** Whether the report with the given mark was carried out. */
  isMarked: boolean
}

/** What a rule can be about: the type of an activity, and the workflow of its run. */
export interface TypedActivity {
  activityType: string
  workflowName: string
}

export interface ActivityCommand {
  ref: ExecutionRef
  activityId: string
  /** A report with the key is carried out once. */
  idempotencyKey?: string
  /** Whether the caller may do this to activities of this type, which is known once the run is read. Default: yes. */
  admits?: (activity: TypedActivity) => boolean
  /** The task queue to which the activity is moved, if it is. */
  toCatalog?: string
}

export interface CompleteActivityCommand extends ActivityCommand {
  /** Absent if the activity returns nothing. */
  output?: unknown
}

export interface FailActivityCommand extends ActivityCommand {
  failure: ActivityFailure
}

export interface CancelActivityCommand extends ActivityCommand {
  details?: unknown
}

export type HeartbeatCommand = Omit<CancelActivityCommand, 'idempotencyKey'>

export type RepairCommand = Omit<ActivityCommand, 'idempotencyKey'>

export interface RetryActivityCommand extends RepairCommand, ActivityRetry {}

export interface ActivityRetry {
  /** Whether the next attempt does not get what the last heartbeat has reported. */
  dropHeartbeat: boolean
  /** Whether the activity gets back the timeouts and the retry policy with which it was scheduled. */
  restoreOptions: boolean
}

export interface PauseActivityCommand extends RepairCommand {
  reason: string | null
}

export interface SetActivityCommand extends RepairCommand {
  change: ActivityChange
}

/** The options to change, or `restore` for those with which the activity was scheduled. */
export type ActivityChange = 'restore' | Partial<ActivityTimeouts<number> & { retry: RetryChange; taskQueue: string }>

type RetryChange = Omit<RetryOptions, 'nonRetryableErrorTypes'>

interface ActivityTimeouts<Ms> {
  startToCloseTimeoutMs: Ms
  scheduleToCloseTimeoutMs: Ms
  scheduleToStartTimeoutMs: Ms
  heartbeatTimeoutMs: Ms
}

/** Null for what has no limit. */
export interface ActivityOptions extends ActivityTimeouts<number | null> {
  taskQueue: string
  retry: {
    initialIntervalMs: number | null
    backoffCoefficient: number | null
    maximumIntervalMs: number | null
    /** 0: unlimited. */
    maximumAttempts: number
  }
}
