import type { Problem } from './problem.ts'

/** What an open run waits for, as reported by the engine. */
export interface PendingWork {
  /** Null unless the run is paused. */
  paused: { since: Date | null; reason: string | null } | null
  /** Null unless cancellation was requested. */
  canceling: { since: Date | null } | null
  /** The step in which a worker executes the workflow's code. `startedAt` is null until a worker has taken it. */
  workflowTask: { scheduledAt: Date | null; startedAt: Date | null } | null
  /** The names of the signals that no workflow task has handled, among the events that were read. */
  waitingSignals: string[]
  /** Null unless the workflow task has failed before. */
  problem: Problem | null
  activities: PendingActivity[]
  children: PendingChild[]
  timers: PendingTimer[]
  /** Whether the run also waits for a Nexus operation. */
  waitsForNexus: boolean
  /** When its last workflow task was completed, if that is one of the events that were read. */
  idleSince: Date | null
  /** False if only the last events of the history were read: earlier timers are not known. */
  readFromStart: boolean
}

export type AttemptState = 'scheduled' | 'started' | 'cancel_requested' | 'paused' | 'pause_requested'

export interface PendingActivity {
  activityId: string
  name: string
  taskQueue: string
  state: AttemptState
  /** Why it is paused, as whoever has paused it has said. */
  pauseReason: string | null
  /** Number of attempts, including the current one. */
  attempt: number
  /** Null for no limit. */
  maximumAttempts: number | null
  /** When the current attempt started, or the activity was scheduled if no worker has taken it. */
  since: Date | null
  /** When the next attempt is due; null while one runs or waits for a worker. */
  nextAttemptAt: Date | null
  /** Without stacks, paths, addresses and identities. */
  lastFailure: { name: string; message: string } | null
}

export interface PendingChild {
  childWorkflowId: string
  /** Null until the child has started. */
  childRunId: string | null
  childWorkflowName: string
  since: Date | null
}

export interface PendingTimer {
  /** Null for the delay before the first workflow task. */
  timerId: string | null
  since: Date | null
  firesAt: Date | null
}
