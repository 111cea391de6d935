import { toSingleValue } from '../../protocol/single-value.ts'
import { rejectReserved } from '../control/catalog-guard.ts'
import type { Call } from '../model/call.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import type { RunInput } from '../model/workflows.ts'

export async function readInput(
  { engine }: Pick<Ports, 'engine'>,
  { workflowId, runId: pinned }: ExecutionRef,
  call: Call,
): Promise<RunInput> {
  // The start event of a run that was created by a reset does not name that run.
  const { runId } = pinned === undefined ? await engine.describe({ workflowId }, call) : { runId: pinned }
  const { workflowName, args } = await engine.input({ workflowId, runId }, call)
  rejectReserved({ workflowId, workflowName })
  return { workflowId, runId, input: toSingleValue(args), args }
}
