/** A closed run, as the engine lists it. */
export interface ClosedRun {
  namespace: string
  workflowId: string
  runId: string
}
