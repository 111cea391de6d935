/** What the service knows about a workflow execution. The shared part is `src/shared/wire/execution.ts`. */
import type { Closing, ErrorCause, ErrorDetails, RunInfo, Status } from '../../shared/wire/execution.ts'
import type { TraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import type { WorkerVersion } from '../../shared/wire/worker-version.ts'
import type { Call } from './call.ts'
import { workflowNotFound } from './errors.ts'
import type { PendingWork } from './pending-work.ts'
import type { Problem } from './problem.ts'

/** A workflow execution; without `runId` the latest run of that id. */
export interface ExecutionRef {
  workflowId: string
  runId?: string
}

/** The input of a verb on a run. */
export interface OnRun {
  ref: ExecutionRef
}

/** The key of a run in a cache. `JSON.parse` returns the reference. */
export function toKey({ workflowId, runId }: ExecutionRef): string {
  return JSON.stringify({ workflowId, runId })
}

/** What the engine reports about a run without its history. */
export interface Description extends RunInfo {
  status: Status
  startedAt: Date | null
  /** Null while the run is open. */
  completedAt: Date | null
  /** Number of events so far. */
  historyLength: number
  /** The worker version that the run stays on, whatever is deployed later; null for a run that is not pinned. */
  pinnedVersion: WorkerVersion | null
  /** The worker version that the run is on; null for workers without versions, and before the first workflow task. */
  workerVersion: RunVersion | null
  /** For the whole chain; null for no limit. */
  executionTimeoutMs: number | null
  /** For this run; null for no limit. */
  runTimeoutMs: number | null
  /** Memo, texts and search attributes; absent if the run has none. */
  userValues?: UserValues
  /** Absent if no open activity has sent a heartbeat with details. */
  heartbeats?: Heartbeats
  /** Set if the history has a workflow task that no worker has taken yet. */
  hasUnstartedTask?: true
  /** The run that the last reset of this run created. */
  resetRunId?: string
  /**
   * Activities that are still open. The history records their attempts and failures only when they close.
   * Decoded on call.
   */
  pendingSteps?(): Promise<PendingStep[]>
  /** The activity with this id that is open; null without one. */
  openActivity?(activityId: string): OpenActivity | null
  /** The workflow task that has failed on a worker and is being retried. */
  failingTask?: FailingTask
  /** Decodes the memo field `$asks`, which workflow code has written. Absent for closed runs, and without it. */
  asks?(): Promise<unknown>
  /** Reads what an open run waits for. */
  pendingWork?(call: Call): Promise<PendingWork>
  /** Reads how a closed run ended: one engine call, unless a canceled one has many events. */
  readEnd?(call: Call): Promise<Closing | null>
}

export interface RunVersion extends WorkerVersion {
  /** Whether the run stays on it, whatever is deployed later. */
  pinned: boolean
}

/** What clients and workflow code have stored with a run. */
export interface UserValues {
  /** Without the fields of the protocol. */
  memo: NamedValues
  /** Those of `summary` and `details` that its start had. */
  texts?: NamedValues
  searchAttributes: Readonly<Record<string, unknown>>
}

/** `decode` returns the values in the order of the names. */
interface NamedValues {
  names: readonly string[]
  decode(): Promise<unknown[]>
}

/** What an open activity has reported with its last heartbeat. */
export interface ActivityProgress {
  activityId: string
  activityType: string
  /** The current attempt, which may be later than that of the heartbeat. */
  attempt: number
  /** The one value, the array for several. Null if it is too large, stored elsewhere, or could not be decoded. */
  details: unknown
  heartbeatAt: Date | null
}

/** The last heartbeats of open activities. `decode` returns the details in the order of the activities. */
export interface Heartbeats {
  activities: readonly Omit<ActivityProgress, 'details'>[]
  decode(): Promise<unknown[]>
}

export interface FailingTask {
  /** Number of attempts, including the pending one. */
  attempt: number
  /** Reads from the history why the task fails; null if its worker is not the cause. Never rejects. */
  problem(call: Call): Promise<Problem | null>
}

export interface OpenActivity {
  activityType: string
  /** Whether an attempt is running. Between attempts, and before the first one, the engine takes only a completion. */
  isStarted: boolean
  /** Whether its workflow has requested that the attempt ends. */
  isCancelRequested: boolean
  /** The mark of the last failed attempt, if `reportActivity` reported it. */
  failureMark: string | null
  /** Differs after each attempt, at its start, and after a retry that was requested. */
  position: string
}

export interface PendingStep {
  activityId: string
  /** Number of attempts, including the current one. */
  attempts: number
  lastFailure: ErrorCause | null
  times: PendingTimes
}

/** When the attempt that runs began; between two attempts, when the last one ended and the next one is due. In ms. */
export interface PendingTimes {
  lastStartedAt?: number
  lastEndedAt?: number
  nextAttemptAt?: number
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

/**
 * Throws `WorkflowNotFoundError` for a run whose workflow name is reserved: it belongs to the workers, as catalogs do.
 */
export function rejectReserved({ workflowId, workflowName }: Pick<Description, 'workflowId' | 'workflowName'>): void {
  if (!workflowName.startsWith('$')) return
  throw workflowNotFound({ workflowId })
}
