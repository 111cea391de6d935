/** The words everything else is said in. */
import type { RunRef } from '../protocol/run-ref.ts'
import type { WorkerVersion } from '../protocol/worker-version.ts'
import type { Call } from './call.ts'
import type { Problem } from './status/problem.ts'
import type { StoredElsewhere } from './stored-elsewhere.ts'

export type { RunRef }

export type OpenStatus = 'running' | 'paused'
export type ClosedStatus = 'completed' | 'failed' | 'canceled' | 'terminated' | 'timed_out' | 'continued'
export type Status = OpenStatus | ClosedStatus

export function isOpen(status: Status): status is OpenStatus {
  return status === 'running' || status === 'paused'
}

/** A workflow execution; without `runId` the latest run of that id. */
export interface ExecutionRef {
  workflowId: string
  runId?: string
}

export interface ErrorCause {
  name: string
  message: string
  cause: ErrorCause | null
}

/** The user's own failure: the outermost one that is not a wrapper of the engine's (activity, child workflow, Nexus). */
export interface ErrorDetails extends ErrorCause {
  /** False when the failure is marked as non-retryable. */
  retryable: boolean
  /** Of the nearest activity around the failure; null when no activity was involved. */
  activityId: string | null
}

export type Outcome =
  /** `output` is null where it is stored elsewhere. */
  | { status: 'completed'; output: unknown; storedElsewhere?: StoredElsewhere }
  | { status: 'failed' | 'canceled' | 'terminated' | 'timed_out'; error: ErrorDetails }
  | { status: 'continued' }

/** How one run ended. */
export interface Closing {
  outcome: Outcome
  /** The run that carries the work on (continue-as-new, engine retry, cron); null at the end of a chain. */
  nextRunId: string | null
  /** Where its trace is written, where the run's output or failure says so: only workers of the older generation put it there. */
  trace?: TraceMeta
}

/** What the engine knows of a run without reading its history. */
export interface Description extends RunRef {
  /** First run of this run's chain. */
  firstRunId: string
  workflowName: string
  /** The task queue the run was started on. */
  catalog: string
  status: Status
  /** The run that started this one as its child; null for a root. */
  parent: RunRef | null
  /** Memo fields of the protocol (`memoKeys`), decoded. */
  memo: ReadonlyMap<string, unknown>
  startedAt: Date | null
  /** Null while the run is open. */
  completedAt: Date | null
  /** Number of events so far. */
  historyLength: number
  /** The version whose workers finish it, whatever is deployed later; null for a run that is not pinned to one. */
  pinnedVersion: WorkerVersion | null
  /** Activities that have not ended, with what the history tells of them only afterwards; decoded when asked for. */
  pendingSteps?(): Promise<PendingStep[]>
  /** The workflow task that a worker has failed and is to try again. */
  failingTask?: FailingTask
}

export interface FailingTask {
  /** How many times it has been tried, the pending one included. */
  attempt: number
  /** Why it fails: one more look at the engine. Never rejects. */
  problem(call: Call): Promise<Problem>
}

export interface PendingStep {
  activityId: string
  /** How many times it has been tried, this one included. */
  attempts: number
  lastFailure: ErrorCause | null
}

/** One run with what went in and what came out. */
export interface Execution
  extends Omit<
    Description,
    'completedAt' | 'failingTask' | 'historyLength' | 'pendingSteps' | 'pinnedVersion' | 'startedAt'
  > {
  /** The one argument, null for none, the array for several. */
  input: unknown
  /** Null while the run is open. */
  closing: Closing | null
}

/** Where a trace was written. */
export interface TraceMeta {
  destinations: { local?: string; remote?: string }
}

/** The specification's workflow result: always these eight keys. */
export interface WorkflowResult {
  workflowId: string
  runId: string
  status: Status
  input: unknown
  output: unknown
  trace: TraceMeta | null
  error: string | null
  errorDetails: ErrorDetails | null
}
