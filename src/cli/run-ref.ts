import { pathOf, toTarget } from '../client/target.ts'

export interface RunFlags {
  /** A run id. Without it the command is about the latest run. */
  run?: string
}

export function refOf(workflowId: string, { run }: RunFlags): { workflowId: string; runId?: string } {
  return { workflowId, ...(run !== undefined && { runId: run }) }
}

/** The path of requests that the client has no function for. */
export function pathOfRun(workflowId: string, flags: RunFlags): string {
  return pathOf(toTarget(refOf(workflowId, flags)))
}
