import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { ServiceError } from '../model/errors.ts'

/** The error for a run that was described as closed. Without a cause, because the engine has not rejected anything. */
export function notRunning({ workflowId, runId, status }: RunRef & { status: Status }): ServiceError {
  const message = `Workflow ${workflowId} is not running; its status is ${status}`
  return new ServiceError('WorkflowNotRunningError', message, {
    details: { workflowId, runId, workflowStatus: status },
  })
}
