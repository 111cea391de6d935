import { ServiceError } from '../errors.ts'

/** Throws `WorkflowNotFoundError` for a run of a reserved name: it belongs to the workers, like a catalog under any id. */
export function rejectReserved({ workflowId, workflowName }: { workflowId: string; workflowName: string }): void {
  if (!workflowName.startsWith('$')) return
  throw new ServiceError('WorkflowNotFoundError', `Workflow ${workflowId} not found`, { details: { workflowId } })
}
