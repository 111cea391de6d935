import proto from '@temporalio/proto'
import type { Status } from '../domain/execution.ts'

const { WorkflowExecutionStatus: S } = proto.temporal.api.enums.v1

const STATUS = new Map<number, Status>([
  [S.WORKFLOW_EXECUTION_STATUS_RUNNING, 'running'],
  [S.WORKFLOW_EXECUTION_STATUS_PAUSED, 'paused'],
  [S.WORKFLOW_EXECUTION_STATUS_COMPLETED, 'completed'],
  [S.WORKFLOW_EXECUTION_STATUS_FAILED, 'failed'],
  [S.WORKFLOW_EXECUTION_STATUS_CANCELED, 'canceled'],
  [S.WORKFLOW_EXECUTION_STATUS_TERMINATED, 'terminated'],
  [S.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, 'continued'],
  [S.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, 'timed_out'],
])

/** Temporal's status in our words. A status that is newer than this code is not an end. */
export function toStatus(status: number | null | undefined): Status {
  return STATUS.get(status ?? S.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED) ?? 'running'
}
