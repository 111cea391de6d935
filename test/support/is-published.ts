import type { Connection } from '@temporalio/client'
import { WorkflowExecutionStatus } from '../../src/shared/temporal/enums.ts'

/** Whether the run that holds the catalog is open. Rejects if there has never been one. */
export async function isPublished(
  { workflowService }: Pick<Connection, 'workflowService'>,
  catalog: string,
): Promise<boolean> {
  const { workflowExecutionInfo: run } = await workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
  return run?.status === WorkflowExecutionStatus.RUNNING
}
