import type { TraceEntry } from '../protocol/trace-entry.ts'
import type { TraceNode } from '../protocol/trace-tree.ts'
import type { Call } from './call.ts'
import type { Description, TraceMeta } from './execution.ts'

/** The answer of `trace-log`. */
export interface Trace {
  /** Name of the source that answered. */
  source: string
  runId: string
  /** Whether the run had ended. */
  complete: boolean
  warnings: string[]
  data: TraceNode
}

/** The run whose trace is looked for. */
export interface TracedRun extends Description {
  /** The run in whose trace this one is told: itself, or for a child the topmost one above it whose workers record traces. */
  root(call: Call): Promise<RootRun>
  /** Where the trace of its root is written, as far as anybody says. */
  destinations(call: Call): Promise<TraceMeta['destinations']>
}

export type RootRun = Pick<Description, 'catalog' | 'firstRunId' | 'workflowId'>

export interface FoundTrace {
  entries: TraceEntry[]
  /** False when something may be missing: the sources after it complete it. */
  whole: boolean
  /** What the reader of the answer should know, one sentence each. */
  warnings: string[]
}

/** Port: a place where a run's trace may be found. */
export interface TraceSource {
  name: string
  /**
   * Null when this source has nothing of that run. Rejects with a `ServiceError`, whose message becomes a warning, when it
   * can't be told.
   */
  find(run: TracedRun, call: Call): Promise<FoundTrace | null>
}

/** Whether the entries tell how the run ended: what was stored before that is a part. */
export function tellsEnd({ runId }: Pick<Description, 'runId'>, entries: readonly TraceEntry[]): boolean {
  return entries.some(({ id, phase }) => id === runId && phase === 'ended')
}
