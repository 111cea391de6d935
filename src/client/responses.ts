/** What the service responds with, as JSON carries it: times are ISO 8601 strings in UTC. */
import type { HistoryEvent as Event, HistoryRun } from '../domain/model/history-page.ts'
import type { ListedRun as Run, RunFilter } from '../domain/model/run-filter.ts'
import type { Trace } from '../domain/model/trace-source.ts'
import type * as domain from '../domain/model/workflows.ts'
import type { ErrorDetails, Status } from '../protocol/execution.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import type { TraceMeta } from '../protocol/trace/trace-meta.ts'
import type { AsJson } from './catalog-types.ts'

export type { ErrorDetails, RunFilter, RunRef, Status }

/** How a run has ended. `output` is the workflow's return value, null for a workflow that returns nothing. */
export type WorkflowResult<Output = unknown> = RunRef & {
  /** The workflow's one argument, null for none, an array for several. Also null if it cannot be read. */
  input: unknown
  /** Where the run's trace is stored, if the worker says so. */
  trace: TraceMeta | null
} & (
    | { status: 'completed'; output: Output; error: null; errorDetails: null }
    | {
        status: 'failed' | 'canceled' | 'terminated' | 'timed_out'
        output: null
        error: string
        errorDetails: ErrorDetails
      }
    /** Only for a run that was requested by its run id. */
    | { status: 'continued'; output: null; error: null; errorDetails: null }
  )

export type WorkflowStatus = AsJson<Awaited<ReturnType<domain.Workflows['status']>>>

/** A run that has not ended, as a response describes it. */
export interface OpenRun extends RunRef {
  workflowStatus?: Status
  /** Why it makes no progress, if that is known. */
  problem?: NonNullable<WorkflowStatus['problem']>
}

export type Explanation = AsJson<Awaited<ReturnType<domain.Workflows['explain']>>>

export type HistoryEvent = AsJson<Event>

export interface HistoryPage {
  workflow: AsJson<HistoryRun>
  events: HistoryEvent[]
  /** Null after the last event of a closed run. */
  nextPageToken: string | null
}

export type ListedRun = AsJson<Run>

export type RunPage = AsJson<domain.RunPage>

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

export type ActivityHeartbeat = AsJson<Awaited<ReturnType<domain.Workflows['heartbeatActivity']>>>

export type { CatalogListing as Catalog } from '../domain/model/catalog-listing.ts'
