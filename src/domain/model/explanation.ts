import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { TaskKind } from './engine.ts'
import type { PendingActivity, PendingChild, PendingTimer, PendingWork } from './pending-work.ts'
import type { Problem } from './problem.ts'

/** Why a run does not move. */
export interface Explanation extends RunRef {
  verdict: Reason['kind']
  since: Date | null
  /** All reasons that apply, at least one. The first one is the verdict. */
  reasons: Reason[]
}

/** One fact about the run, and what a person can do about it. */
export type Reason =
  | ReasonOf<'closed', { status: Status }>
  | ReasonOf<'paused'>
  | ReasonOf<'workflow_task_failing', Pick<Problem, 'attempt' | 'message'>>
  | ReasonOf<'no_workers', { taskQueue: string; tasks: TaskKind }>
  | ReasonOf<'canceling'>
  | ReasonOf<'activity_retrying' | 'activity_running', Omit<PendingActivity, 'since'>>
  | ReasonOf<'waiting_child', Omit<PendingChild, 'since'>>
  | ReasonOf<'waiting_timer', Omit<PendingTimer, 'since'>>
  | ReasonOf<'waiting_handler', { signals: string[] | null; updates: string[] | null }>
  | ReasonOf<'healthy', { workflowTask: PendingWork['workflowTask'] }>

type ReasonOf<Kind, Facts = unknown> = { kind: Kind; since: Date | null } & Facts & { advice: string }
