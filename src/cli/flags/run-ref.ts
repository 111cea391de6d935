import type { AnyWorkflows } from '../../client/catalog-types.ts'
import type { Client, WorkflowHandle } from '../../client/client.ts'
import { pathOf, toTarget } from '../../client/target.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'
import { UsageError } from '../failures.ts'

export interface RunFlags {
  /** A run id. Without it the command is about the latest run. */
  run?: string
}

/** Throws a `UsageError` for an id that no run can have, such as that of an empty shell variable. */
export function refOf(workflowId: string, { run }: RunFlags): { workflowId: string; runId?: string } {
  const ref = { workflowId, ...(run !== undefined && { runId: run }) }
  try {
    pathOf(toTarget(ref))
  } catch (error) {
    throw new UsageError(errorMessage(error))
  }
  return ref
}

/** The run that the command is about. */
export function handleOf(client: Client<AnyWorkflows>, workflowId: string, flags: RunFlags): WorkflowHandle {
  // The name of the workflow only matters for starts.
  return client.workflow('').get(refOf(workflowId, flags))
}

/** The path of requests that the client has no function for. */
export function pathOfRun(workflowId: string, flags: RunFlags): string {
  return pathOf(toTarget(refOf(workflowId, flags)))
}
