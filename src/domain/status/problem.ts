/** Why an open run does not go on. */
export interface Problem {
  kind: 'workflow_task_failing'
  /** The one that is pending: 2 once the task has failed. */
  attempt: number
  /** When the task failed first, of what the end of the history still tells; null when that could not be read. */
  since: Date | null
  /** The last failure in the worker's words, without stacks, paths, addresses and identities. */
  message: string
}

/** For the message of a refusal. */
export function describeProblem({ attempt, message }: Problem): string {
  return `its workflow task is failing (attempt ${attempt}); the worker reported: ${message}`
}
