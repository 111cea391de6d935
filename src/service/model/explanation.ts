import type { Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { May } from './commands.ts'
import type { TaskKind } from './engine.ts'
import type { OnRun } from './execution.ts'
import type { PendingActivity, PendingChild, PendingTimer, PendingWork } from './pending-work.ts'
import type { Problem } from './problem.ts'
import type { OpenAsk } from './question.ts'
import type { WorkflowStatus } from './workflow-status.ts'

/** Why a run does not move. */
export interface Explanation extends RunRef {
  verdict: Reason['kind']
  since: Date | null
  /** All reasons that apply, at least one. The first one is the verdict. */
  reasons: (Reason & { action: Action | null })[]
  run: WorkflowStatus
}

export interface ExplainCommand extends OnRun {
  /** Absent for a caller that may only read the run. */
  may?: May
}

/** A request that does something about a reason; for a question the caller adds the answer as its body. */
export interface Action {
  method: 'GET' | 'POST'
  path: string
  body: null
}

/** One fact about the run, and what a person can do about it. */
export type Reason =
  | ReasonOf<'closed', { status: Status }>
  | ReasonOf<'paused'>
  | ReasonOf<'workflow_task_failing', Pick<Problem, 'attempt' | 'message'>>
  | ReasonOf<'no_workers', { taskQueue: string; tasks: TaskKind }>
  | ReasonOf<'waiting_worker', { taskQueue: string; tasks: TaskKind; lastPolledAt: Date | null; messages: string[] }>
  | ReasonOf<'canceling'>
  | ReasonOf<'waiting_answer', Omit<OpenAsk, 'askedAt'> & { key: string }>
  | ReasonOf<'activity_retrying' | 'activity_running', Omit<PendingActivity, 'pauseReason' | 'since'>>
  | ReasonOf<'waiting_child', Omit<PendingChild, 'since'>>
  | ReasonOf<'waiting_timer', Omit<PendingTimer, 'since'>>
  | ReasonOf<'waiting_handler', { signals: string[] | null; updates: string[] | null }>
  | ReasonOf<'healthy', { workflowTask: PendingWork['workflowTask'] }>

/** The reason as one line for people and agents. */
export function reasonText({ kind, since, advice }: Pick<Reason, 'kind' | 'since' | 'advice'>): string {
  return `${kind}${since === null ? '' : ` since ${since.toISOString()}`}: ${advice}`
}

type ReasonOf<Kind, Facts = unknown> = { kind: Kind; since: Date | null } & Facts & { advice: string }
