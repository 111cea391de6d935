import type { Status } from '../../protocol/execution.ts'

/** A closed run, as the engine lists it. */
export interface ClosedRun {
  namespace: string
  workflowId: string
  runId: string
  /** Absent when an earlier attempt to handle the run has failed. */
  listed?: { workflowName: string; status: Status }
}
