import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { ActivityProgress, RunVersion } from './execution.ts'
import type { Problem } from './problem.ts'

export interface WorkflowStatus extends RunRef {
  workflowName: string
  catalog: string
  status: Status
  startedAt: Date | null
  completedAt: Date | null
  historyLength: number
  /** Why an open run makes no progress; null when no problem is known. */
  problem: Problem | null
  /** The latest heartbeat first; null if no open activity has sent one with details. */
  progress: ActivityProgress[] | null
  /** Null if it could not be decoded. */
  memo: Record<string, unknown> | null
  searchAttributes: Record<string, unknown>
  /** What the start said about the run; null if it said nothing, or if it could not be decoded. */
  summary: string | null
  details: string | null
  /** The run that started this one as its child; null for a root. */
  parent: RunRef | null
  /** The worker version that the run is on; null for workers without versions, and before the first workflow task. */
  workerVersion: RunVersion | null
  /** For the whole chain; null for no limit. */
  executionTimeoutMs: number | null
  /** For this run; null for no limit. */
  runTimeoutMs: number | null
}
