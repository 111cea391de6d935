import type { Call } from '../../domain/call.ts'
import type { Started } from '../../domain/engine.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { type EngineContext, executionIds, IDENTITY, toExecution } from '../context.ts'
import { isGoneOrClosed } from '../errors.ts'
import { onOpenRun } from './on-open-run.ts'

/** Unpinned, it reaches the run that its chain has come to by now: the engine takes a cancellation of a closed run in silence. */
export async function cancel(
  context: EngineContext,
  run: Started,
  options: { reason: string | null; pinned: boolean },
  call: Call,
): Promise<void> {
  const { workflowId, runId, firstRunId } = run
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(options.pinned ? { workflowId, runId } : { workflowId }),
    firstExecutionRunId: firstRunId,
    reason: options.reason,
    identity: IDENTITY,
    requestId: crypto.randomUUID(),
  }
  await onOpenRun(context, run, { kind: 'write', details: executionIds(run) }, call, async () => {
    try {
      await context.rpc('requestCancelWorkflowExecution', request, call)
    } catch (error) {
      // An attempt may have arrived, and the id has another use since, or none: the chain has ended.
      if (!(isGoneOrClosed(error) && error.mayHaveTakenEffect)) throw error
    }
  })
}

export async function terminate(context: EngineContext, run: RunRef, reason: string | null, call: Call): Promise<void> {
  const request = { namespace: context.namespace, workflowExecution: toExecution(run), reason, identity: IDENTITY }
  // Not repeated once it may have arrived: the second try would find the run closed, by us.
  await onOpenRun(context, run, { kind: 'write', details: executionIds(run) }, call, () =>
    context.rpc('terminateWorkflowExecution', request, call, { onLostResponse: 'throw' }),
  )
}
