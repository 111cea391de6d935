/** Identifies exactly one run. */
export interface RunRef {
  workflowId: string
  runId: string
}
