import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import type { Started } from '../../model/engine.ts'
import { type EngineContext, executionIds, identityOf, toExecution } from '../context.ts'
import { isGoneOrClosed } from '../errors.ts'
import { onOpenRun } from './at-most-once/on-open-run.ts'

/** Cancels the pinned run, or the latest run of its chain. For a closed run the engine succeeds without an effect. */
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
    identity: identityOf(call),
    requestId: crypto.randomUUID(),
  }
  await onOpenRun(context, run, { kind: 'write', details: executionIds(run) }, call, async () => {
    try {
      await context.rpc('requestCancelWorkflowExecution', request, call)
    } catch (error) {
      // The chain has ended, and an earlier attempt may have canceled it: count that as done.
      if (!(isGoneOrClosed(error) && error.mayHaveTakenEffect)) throw error
    }
  })
}

export async function terminateRun(
  context: EngineContext,
  run: RunRef,
  reason: string | null,
  call: Call,
): Promise<void> {
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(run),
    reason,
    identity: identityOf(call),
  }
  // Not sent again once it may have arrived: the retry would fail, because the first attempt has closed the run.
  await onOpenRun(context, run, { kind: 'write', details: executionIds(run) }, call, () =>
    context.rpc('terminateWorkflowExecution', request, call, { onLostResponse: 'throw' }),
  )
}
