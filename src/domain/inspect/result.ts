import type { Call } from '../model/call.ts'
import { ServiceError } from '../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import { toResult } from '../model/to-result.ts'
import { traceMetaOrNull } from '../trace/destinations.ts'

export async function readResult(
  { engine, catalogs }: Pick<Ports, 'catalogs' | 'engine'>,
  ref: ExecutionRef,
  call: Call,
): Promise<WorkflowResult> {
  const execution = await engine.read(ref, call)
  const { workflowId, runId, status, closing } = execution
  if (closing !== null) return toResult(execution, closing, await traceMetaOrNull(execution, catalogs, call))
  throw new ServiceError(
    'WorkflowNotCompletedError',
    `Workflow ${workflowId} has no result yet; its status is ${status}`,
    {
      details: { workflowId, runId, workflowStatus: status },
    },
  )
}
