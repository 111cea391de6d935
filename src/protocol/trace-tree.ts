import type { TraceEntry, TraceError } from './trace-entry.ts'

export interface TraceNode {
  id: string
  kind: string
  name: string
  /** Epoch milliseconds. */
  startedAt: number
  /** Null while open. */
  endedAt: number | null
  input: unknown
  output: unknown
  error: TraceError | null
  attributes: Record<string, unknown>
  /** Sorted by `startedAt`. */
  children: TraceNode[]
}

export type { TraceEntry }
