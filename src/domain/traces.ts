import type { TraceEntry } from '../protocol/trace-entry.ts'
import type { TraceNode } from '../protocol/trace-tree.ts'
import type { Call } from './call.ts'
import type { Description } from './execution.ts'

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

export interface FoundTrace {
  entries: TraceEntry[]
}

/** Port: a place where a run's trace may be found. */
export interface TraceSource {
  name: string
  /** Null when this source has nothing of that run. */
  find(run: Description, call: Call): Promise<FoundTrace | null>
}
