/** Requests about activities that complete outside their worker. */
import type { CallOptions } from '../connection/options.ts'
import type { ActivityHeartbeat, CompletedActivity, FailedActivity } from '../responses.ts'

export interface CompleteActivityRequest extends CallOptions {
  /** What the activity returns. Without it: nothing. */
  output?: unknown
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

/** What the choices of a link do, with their payload: one of these. The activity must be open. */
export type LinkAction =
  | { signal: string; update?: never; complete?: never }
  | { update: string; signal?: never; complete?: never }
  | { complete: { activityId: string }; signal?: never; update?: never }

/** The methods of a handle about activities. The client first reads which run is the latest: ids belong to one run. */
export interface ActivityMethods {
  completeActivity(activityId: string, request?: CompleteActivityRequest): Promise<CompletedActivity>
  /** Not repeated if the response is lost, unless `retryable` is false: another attempt could fail. */
  failActivity(activityId: string, request: FailActivityRequest): Promise<FailedActivity>
  /** Reports progress. `cancelRequested` says whether the activity should end. */
  heartbeatActivity(activityId: string, request?: HeartbeatRequest): Promise<ActivityHeartbeat>
}
