import type { Call } from '../../../domain/model/call.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { type EngineContext, IDENTITY, toExecution } from '../../context.ts'
import { isGoneOrClosed } from '../../errors.ts'
import { toLookupError } from './find-run.ts'

/** Terminates this run, unless it is closed already, for a start with `terminate-existing` whose response was lost. */
export async function terminateOnce({ rpc, namespace }: EngineContext, run: RunRef, call: Call): Promise<void> {
  const request = {
    namespace,
    workflowExecution: toExecution(run),
    reason: 'a new run of the workflow id starts',
    identity: IDENTITY,
  }
  try {
    await rpc('terminateWorkflowExecution', request, call)
  } catch (error) {
    if (!isGoneOrClosed(error)) throw toLookupError(error, { workflowId: run.workflowId })
  }
}
