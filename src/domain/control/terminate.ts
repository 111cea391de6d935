import { isOpen, type Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../call.ts'
import { ServiceError } from '../errors.ts'
import type { Ports } from '../ports.ts'
import type { EndCommand } from '../workflows.ts'
import { onLatestRun } from './on-latest-run.ts'

export async function terminate(
  ports: Pick<Ports, 'engine'>,
  { ref, reason }: EndCommand,
  call: Call,
): Promise<RunRef> {
  return onLatestRun(ports, ref, call, async ({ workflowId, runId, status }) => {
    if (!isOpen(status)) throw notRunning({ workflowId, runId }, status)
    await ports.engine.terminate({ workflowId, runId }, reason, call)
    return { workflowId, runId }
  })
}

function notRunning(run: RunRef, workflowStatus: Status): ServiceError {
  const message = `Workflow ${run.workflowId} is not running; its status is ${workflowStatus}`
  return new ServiceError('WorkflowNotRunningError', message, { details: { ...run, workflowStatus } })
}
