/** How a workflow is started, and its arguments. */
import type * as domain from '../../service/model/workflow-options.ts'
import type { RawPayload } from '../activity-requests.ts'
import type { CallOptions } from '../connection/options.ts'

/** Milliseconds, or a string such as `30s` or `5m`. */
export type Duration = number | string

/** `One` with one argument, `List` with several, `Raw` with encoded ones, none of them without arguments. */
export type ArgumentsAs<
  Args extends readonly unknown[],
  One extends string,
  List extends string = 'args',
  Raw extends string = 'payloads',
> =
  | ({ [K in List]: Args } & { [K in One | Raw]?: never })
  | ({ [K in Raw]: readonly RawPayload[] } & { [K in One | List]?: never })
  | ([Args[0]] extends Args ? { [K in One]: Args[0] } & { [K in List | Raw]?: never } : never)
  | ([] extends Args ? { [K in One | List | Raw]?: never } : never)

type SharedOption =
  | 'catalog'
  | 'details'
  | 'headers'
  | 'idempotencyKey'
  | 'priority'
  | 'retry'
  | 'searchAttributes'
  | 'startDelay'
  | 'summary'

/** The options of a start of an activity without a workflow: docs/api/activities-alone.md. */
export interface StartActivityOptions extends Pick<StartOptions, keyof CallOptions | SharedOption> {
  /** Default: an id that is derived from the idempotency key. */
  activityId?: string | undefined
  /** For each attempt. Default 1 m. */
  startToCloseTimeout?: Duration
  /** For all attempts together. Default 24 h. */
  scheduleToCloseTimeout?: Duration
  scheduleToStartTimeout?: Duration
  heartbeatTimeout?: Duration
  /** Default `fail`. */
  activityIdConflictPolicy?: 'fail' | 'use-existing'
  /** Default `allow-duplicate`. */
  activityIdReusePolicy?: domain.ReusePolicy
}

/** The options of a start: docs/api/start.md, Start options. */
export interface StartOptions extends CallOptions {
  /** Default: an id that is derived from the idempotency key. */
  workflowId?: string | undefined
  /** Task queue of the workers. Default: that of the client, or else that of the service. */
  catalog?: string | undefined
  /** 1 to 255 visible ASCII characters. Default: a new one for each call. */
  idempotencyKey?: string | undefined
  memo?: Record<string, unknown>
  searchAttributes?: Record<string, domain.GivenSearchAttribute>
  /** Temporal headers. */
  headers?: Record<string, unknown>
  startDelay?: Duration
  /** For the whole chain of runs. */
  executionTimeout?: Duration
  /** For each run of the chain. */
  runTimeout?: Duration
  taskTimeout?: Duration
  retry?: {
    initialInterval?: Duration
    backoffCoefficient?: number
    maximumInterval?: Duration
    maximumAttempts?: number
    nonRetryableErrorTypes?: string[]
  }
  cronSchedule?: string
  /** Default `fail`. A start with `terminate-existing` is not repeated. */
  workflowIdConflictPolicy?: domain.ConflictPolicy
  /** Default `allow-duplicate`. */
  workflowIdReusePolicy?: domain.ReusePolicy
  priority?: domain.PriorityOptions
  versioningOverride?: domain.VersioningOverride
  /** Shown in Temporal's web UI, like `details`. */
  summary?: string
  details?: string
}
