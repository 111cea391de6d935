import type { RunRef } from '../../protocol/run-ref.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import type { TraceMeta } from '../../protocol/trace/trace-meta.ts'
import type { TraceNode } from '../../protocol/trace/tree.ts'
import type { Call } from '../call.ts'
import type { Description } from '../execution.ts'

/** The answer of `trace-log`. */
export interface Trace {
  /** Name of the source that the trace of the run itself came from. */
  source: string
  runId: string
  /** Whether the run had ended. */
  complete: boolean
  warnings: string[]
  data: TraceNode
}

/** One run whose trace is read: the one that was asked for, or a child below it. */
export interface TracedRun extends RunRef {
  isOpen: boolean
  /** Null for a child: its run is not described. */
  startedAt: Date | null
  completedAt: Date | null
  /** Where the trace of this run is archived, as far as its catalog or the run itself says. */
  destinations(call: Call): Promise<TraceMeta['destinations']>
  /** What the engine says of attempts that are under way, where it was asked. */
  pendingSteps?: Description['pendingSteps']
  failingTask?: Description['failingTask']
}

export interface FoundTrace {
  entries: TraceEntry[]
  /** False when something may be missing: the sources after it add theirs. */
  whole: boolean
  /** Whether the worker's `redact` has seen it. */
  redacted: boolean
  /** What the reader of the answer should know, one sentence each. */
  warnings: string[]
}

/** Port: a place where the trace of one run may be found. */
export interface TraceSource {
  name: string
  /** Null when this source has nothing of that run. Rejects with a `ServiceError`, whose message becomes a warning. */
  find(run: TracedRun, call: Call): Promise<FoundTrace | null>
}

/** Whether the entries say how the run ended: what was stored before that is a part. */
export function tellsEnd({ runId }: Pick<RunRef, 'runId'>, entries: readonly TraceEntry[]): boolean {
  return entries.some(({ id, phase }) => id === runId && phase === 'ended')
}
