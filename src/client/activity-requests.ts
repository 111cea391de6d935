/** Requests about activities that complete outside their worker, and about links. */

import type { GivenPayload as RawPayload } from '../service/model/raw-payload.ts'
import type { CallOptions } from './connection/options.ts'
import type {
  ActivityHeartbeat,
  CanceledActivity,
  ChangedActivity,
  CompletedActivity,
  FailedActivity,
  PausedActivity,
  RetriedActivity,
} from './responses.ts'

export type { RawPayload }

export interface CompleteActivityRequest extends CallOptions {
  /** What the activity returns. Without it: nothing. */
  output?: unknown
  /** Instead of `output`: one payload. */
  payloads?: readonly RawPayload[]
  /** 1 to 255 visible ASCII characters. Default: a new one for each call. */
  idempotencyKey?: string | undefined
}

export interface FailActivityRequest extends CallOptions {
  message: string
  /** Type of the error, which a retry policy can exclude. Default: `Error`. */
  name?: string
  /** Values for the workflow, as in `errorDetails`. */
  details?: unknown[]
  /** False: the activity is not executed again. Default: its retry policy decides. */
  retryable?: boolean
  idempotencyKey?: string | undefined
}

export interface HeartbeatRequest extends CallOptions {
  /** The progress, as `status` shows it. */
  details?: unknown
}

export interface CancelActivityRequest extends HeartbeatRequest {
  idempotencyKey?: string | undefined
}

export interface RetryActivityRequest extends CallOptions {
  /** Whether the next attempt does not get the details of the last heartbeat. Default: false. */
  dropHeartbeat?: boolean
  /** Whether timeouts and retry policy become those with which the activity was scheduled. Default: false. */
  restoreOptions?: boolean
}

/** The options to change. Durations are milliseconds, or a string such as `30s`. */
export interface ActivityChanges {
  startToCloseTimeout?: number | string
  scheduleToCloseTimeout?: number | string
  scheduleToStartTimeout?: number | string
  heartbeatTimeout?: number | string
  retry?: {
    initialInterval?: number | string
    backoffCoefficient?: number
    maximumInterval?: number | string
    /** 0: unlimited. */
    maximumAttempts?: number
  }
  taskQueue?: string
  /** Alone: all options become those with which the activity was scheduled. */
  restore?: true
}

/** Repairs of one activity. Each request first reads which run is the latest. */
export interface ActivityRepairs {
  /** Makes the next attempt due now. Not repeated if the response is lost. */
  retry(request?: RetryActivityRequest): Promise<RetriedActivity>
  /** Starts no further attempt until `unpause`. The reason is kept until then. */
  pause(request?: CallOptions & { reason?: string }): Promise<PausedActivity>
  unpause(options?: CallOptions): Promise<PausedActivity>
  /** Changes these options, and returns all of them. */
  set(changes: ActivityChanges, options?: CallOptions): Promise<ChangedActivity>
}

/** What the choices of a link do, with their payload: one of these. The activity must be open. */
export type LinkAction =
  | { signal: string; update?: never; complete?: never; question?: never }
  | { update: string; signal?: never; complete?: never; question?: never }
  | { complete: { activityId: string }; signal?: never; update?: never; question?: never }

/** The methods of a handle about activities. The client first reads which run is the latest: ids belong to one run. */
export interface ActivityMethods {
  completeActivity(activityId: string, request?: CompleteActivityRequest): Promise<CompletedActivity>
  /** Not repeated if the response is lost, unless `retryable` is false: another attempt could fail. */
  failActivity(activityId: string, request: FailActivityRequest): Promise<FailedActivity>
  /** Reports that the activity has ended because its workflow has requested that. */
  cancelActivity(activityId: string, request?: CancelActivityRequest): Promise<CanceledActivity>
  /** Reports progress. `cancelRequested` says whether the activity should end. */
  heartbeatActivity(activityId: string, request?: HeartbeatRequest): Promise<ActivityHeartbeat>
  /** An activity to repair. Sends no request. */
  activity(activityId: string): ActivityRepairs
}

/** A question with its possible answers, each of which sends a message or completes an activity: docs/links.md. */
export type LinkRequest = LinkOptions & ((Asked & LinkAction) | (Partial<Asked> & LinkToQuestion))

/** What the page asks. */
interface Asked {
  /** The question. */
  title: string
  /** 1 to 10, with labels that differ. A comment becomes the property `comment` of the payload. */
  choices: { label: string; payload?: unknown; comment?: 'none' | 'optional' | 'required'; style?: 'danger' }[]
}

/**
 * `question` is the key of an open question, whose message is the title. The payloads are contents of answers; without
 * choices there is one for each value of the only required property, a boolean or an enumeration.
 */
interface LinkToQuestion {
  question: string
  signal?: never
  update?: never
  complete?: never
}

interface LinkOptions {
  /** What the page shows below the question, at most 20. */
  details?: { label: string; value: string }[]
  /** Milliseconds, or a duration such as `3d`; at most 30 days. Default: 24 hours. */
  expiresIn?: number | string
}
