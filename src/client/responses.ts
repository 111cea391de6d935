/** What the service responds with, as JSON carries it: times are ISO 8601 strings in UTC. */
import type { ActivityOptions, ActivityRef } from '../service/model/activity.ts'
import type { StoppedActivity as StoppedAlone } from '../service/model/activity-commands.ts'
import type * as domain from '../service/model/commands.ts'
import type { Explanation as Explained } from '../service/model/explanation.ts'
import type { HistoryEvent as Event, HistoryRun } from '../service/model/history-page.ts'
import type * as asked from '../service/model/question.ts'
import type { ListedRun as Run, RunFilter } from '../service/model/run-filter.ts'
import type * as alone from '../service/model/standalone-activity.ts'
import type * as queues from '../service/model/task-queue.ts'
import type { Trace } from '../service/model/trace-source.ts'
import type { WorkflowStatus as RunStatus } from '../service/model/workflow-status.ts'
import type { ErrorDetails, Status } from '../shared/wire/execution.ts'
import type { RunRef } from '../shared/wire/run-ref.ts'
import type { TraceMeta } from '../shared/wire/trace/trace-meta.ts'
import type { AsJson } from './catalog-types.ts'

export type { StandaloneRun } from '../service/model/standalone-activity.ts'
export type { ErrorDetails, RunFilter, RunRef, Status }

/** How a run has ended. `output` is the workflow's return value, null for a workflow that returns nothing. */
export type WorkflowResult<Output = unknown> = RunRef & {
  /** The workflow's one argument, null for none, an array for several. Also null if it cannot be read. */
  input: unknown
  /** Where the run's trace is stored, if the worker says so. */
  trace: TraceMeta | null
} & (
    | End<Output>
    /** Only for a run that was requested by its run id. */
    | { status: 'continued'; output: null; error: null; errorDetails: null }
  )

type End<Output> =
  | { status: 'completed'; output: Output; error: null; errorDetails: null }
  | {
      status: 'failed' | 'canceled' | 'terminated' | 'timed_out'
      output: null
      error: string
      errorDetails: ErrorDetails
    }

/** How an activity without a workflow has ended. */
export type ActivityResult<Output = unknown> = alone.StandaloneRun & { input: unknown } & End<Output>

export type ActivityState = AsJson<alone.ActivityState>

export type ActivityFilter = Omit<alone.ActivityFilter, 'visible'>

export type ListedActivity = AsJson<alone.ListedActivity>

export type ActivityPage = AsJson<alone.ActivityPage>

export type StoppedActivity = AsJson<StoppedAlone>

/** An activity without a workflow that has not ended, as a response describes it. */
export interface OpenActivity extends alone.StandaloneRun {
  activityStatus?: Status
}

export type WorkflowStatus = AsJson<RunStatus>

/** A run that has not ended, as a response describes it. */
export interface OpenRun extends RunRef {
  workflowStatus?: Status
  /** Why it makes no progress, if that is known. */
  problem?: NonNullable<WorkflowStatus['problem']>
}

export type Explanation = AsJson<Explained>

export type HistoryEvent = AsJson<Event>

export interface HistoryPage {
  workflow: AsJson<HistoryRun>
  events: HistoryEvent[]
  /** Null after the last event of a closed run. */
  nextPageToken: string | null
}

export type ListedRun = AsJson<Run>

export type RunPage = AsJson<domain.RunPage>

/** A question of a workflow that is open. */
export type Question = AsJson<asked.Question>

export type QuestionPage = AsJson<asked.QuestionPage>

export type RunQuestions = AsJson<asked.RunQuestions>

export type Answered = AsJson<asked.Answered> & { answered: true }

export type RunInput = AsJson<domain.RunInput>

export type { Trace }

export interface SignalAccepted extends RunRef {
  /** Name of the signal. */
  signal: string
  accepted: true
  /** Why the signal may have no effect: its catalog does not list it. Absent without a warning. */
  warnings?: string[]
}

export interface CreatedLink extends RunRef {
  /** Whoever has it can answer: send it to one person. */
  url: string
  linkId: string
  expiresAt: string
  /** Why the answer may have no effect: the catalog does not list the signal. Absent without a warning. */
  warnings?: string[]
}

export type Stopped = AsJson<domain.Stopped>

export interface Terminated extends RunRef {
  terminated: true
}

export type Paused = AsJson<domain.Paused>

export type ResetRun = AsJson<domain.ResetRun>

export interface CompletedActivity extends RunRef {
  activityId: string
  completed: true
}

export interface FailedActivity extends RunRef {
  activityId: string
  failed: true
}

export interface CanceledActivity extends RunRef {
  activityId: string
  canceled: true
}

export type ActivityHeartbeat = AsJson<ActivityRef & { cancelRequested: boolean }>

export interface RetriedActivity extends RunRef {
  activityId: string
  retried: true
}

export type PausedActivity = AsJson<ActivityRef & { paused: boolean }>

/** All options of the activity. */
export type ChangedActivity = AsJson<ActivityRef & { options: ActivityOptions }>

export type TaskQueue = AsJson<queues.TaskQueue>

export type { CatalogListing as Catalog } from '../service/model/catalog-listing.ts'
