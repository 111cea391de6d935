import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import type { TraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import type { TraceNode } from '../../shared/wire/trace/tree.ts'
import type { Call } from './call.ts'
import type { Description } from './execution.ts'

/** The response of `GET /workflow/:id/trace-log`. */
export interface Trace {
  /** Name of the source with the trace of the run itself. */
  source: string
  /** With the source `local`: absolute path of the file, on the service's host. */
  localPath?: string
  runId: string
  /** Whether the run is closed. */
  complete: boolean
  warnings: string[]
  data: TraceNode
}

/** A run whose trace is read: the requested run, or one of its child runs. */
export interface TracedRun extends RunRef {
  isOpen: boolean
  /** Null for a child run, which is not described. */
  startedAt: Date | null
  completedAt: Date | null
  /** Where the trace of this run is archived, according to its catalog or to the run itself. */
  destinations(call: Call): Promise<TraceMeta['destinations']>
  /** The open steps and the failing workflow task, if the run was described. */
  pendingSteps?: Description['pendingSteps']
  failingTask?: Description['failingTask']
}

export interface FoundTrace {
  entries: TraceEntry[]
  /** False when entries may be missing: the following sources are read too. */
  whole: boolean
  /** Whether the entries only add what the following sources do not have (`fill-gaps.ts`). Default: false. */
  fillsGaps?: boolean
  /** Absolute path of the file with the stored trace, on the service's host. */
  localPath?: string
  /** Sentences for the reader of the trace. */
  warnings: string[]
}

/** Port: a store that may have the trace of a run. */
export interface TraceSource {
  name: string
  /** Null when the source has no entries of the run. Rejects with a `ServiceError`, whose message becomes a warning. */
  find(run: TracedRun, call: Call): Promise<FoundTrace | null>
}

/** Whether the entries include the end of the run. Entries that were stored before it are incomplete. */
export function includesEnd({ runId }: Pick<RunRef, 'runId'>, entries: readonly TraceEntry[]): boolean {
  return entries.some(({ id, phase }) => id === runId && phase === 'ended')
}
