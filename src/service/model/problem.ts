/** Why an open run makes no progress. */
export interface Problem {
  kind: 'workflow_task_failing'
  /** The number of the pending attempt: 2 after the first failure. */
  attempt: number
  /** The first failure in the last events of the history; null when they could not be read. */
  since: Date | null
  /** Message of the last failure that a worker reported, without stacks, paths, addresses and identities. */
  message: string
}

/** The end of an error message. */
export function describeProblem({ attempt, message }: Problem): string {
  return `its workflow task is failing (attempt ${attempt}); the worker reported: ${message}`
}
