import type { Call } from '../call.ts'
import type { ExecutionRef } from '../execution.ts'
import type { Ports } from '../ports.ts'
import type { WorkflowStatus } from '../workflows.ts'

export async function readStatus(
  { engine }: Pick<Ports, 'engine'>,
  ref: ExecutionRef,
  call: Call,
): Promise<WorkflowStatus> {
  const run = await engine.describe(ref, call)
  const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength } = run
  const problem = (await run.failingTask?.problem(call)) ?? null
  return { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength, problem }
}
