/** A workflow run in our words: what the engine, the API and the worker kit exchange. */
import type { RunRef } from './run-ref.ts'
import type { TraceMeta } from './trace/trace-meta.ts'

export type OpenStatus = 'running' | 'paused'
type ClosedStatus = 'completed' | 'failed' | 'canceled' | 'terminated' | 'timed_out' | 'continued'
export type Status = OpenStatus | ClosedStatus

export const STATUSES = [
  'running',
  'paused',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
  'continued',
] as const satisfies readonly Status[]

export function isOpen(status: Status): status is OpenStatus {
  return status === 'running' || status === 'paused'
}

export interface ErrorCause {
  name: string
  message: string
  /** The values that the user's code has added to the failure: `details` of an `ApplicationFailure`. */
  details: unknown[]
  /** Of a timeout, if there was a heartbeat: the details of the last one. */
  lastHeartbeatDetails?: unknown[]
  cause: ErrorCause | null
}

/**
 * The error that the user's code threw: the outermost failure that is not a wrapper (activity, child workflow, Nexus).
 */
export interface ErrorDetails extends ErrorCause {
  /** False when the failure is marked as non-retryable. */
  retryable: boolean
  /** The nearest activity around the failure; null when no activity was involved. */
  activityId: string | null
}

/** A value that the engine holds only a reference to: workers keep large values in a store of their own. */
export interface StoredElsewhere {
  /** Size of the stored value; 0 when its reference does not say. */
  sizeBytes: number
}

export type Outcome =
  /** `output` is null where it is stored elsewhere. */
  | { status: 'completed'; output: unknown; storedElsewhere?: StoredElsewhere }
  | { status: 'failed' | 'canceled' | 'terminated' | 'timed_out'; error: ErrorDetails }
  | { status: 'continued' }

/** How one run ended. */
export interface Closing {
  outcome: Outcome
  /** The next run of the chain (continue-as-new, engine retry, cron); null for the last one. */
  nextRunId: string | null
  /** Where the run's trace is written. Only workers of the older generation put it in their output or failure. */
  trace?: TraceMeta
}

/** What is fixed when a run starts, apart from the memo, which workflow code may change. */
export interface RunInfo extends RunRef {
  /** First run of this run's chain. */
  firstRunId: string
  workflowName: string
  /** The task queue the run was started on. */
  catalog: string
  /** The run that started this one as its child; null for a root. */
  parent: RunRef | null
  /** Memo fields of the protocol (`memoKeys`), decoded. */
  memo: ReadonlyMap<string, unknown>
}

/** One run with its input and its outcome. */
export interface Execution extends RunInfo {
  status: Status
  /** The one argument, null for none, the array for several. */
  input: unknown
  /** Null while the run is open. */
  closing: Closing | null
}

/** Several values as one: the one value, null for none, the array for several. */
export function toSingleValue(values: unknown[]): unknown {
  return values.length > 1 ? values : (values[0] ?? null)
}
