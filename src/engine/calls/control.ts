import type { Call } from '../../domain/call.ts'
import type { Started } from '../../domain/engine.ts'
import type { RunRef } from '../../domain/execution.ts'
import { factsOf, IDENTITY, toExecution, type Wire } from '../context.ts'
import { isGoneOrClosed } from '../errors.ts'
import { onOpenRun } from './on-open-run.ts'

/** Unpinned, it reaches the run that its chain has come to by now: the engine takes a cancellation of a closed run in silence. */
export async function cancel(
  wire: Wire,
  run: Started,
  options: { reason: string | null; pinned: boolean },
  call: Call,
): Promise<void> {
  const { workflowId, runId, firstRunId } = run
  const request = {
    namespace: wire.namespace,
    workflowExecution: toExecution(options.pinned ? { workflowId, runId } : { workflowId }),
    firstExecutionRunId: firstRunId,
    reason: options.reason,
    identity: IDENTITY,
    requestId: crypto.randomUUID(),
  }
  await onOpenRun(wire, run, { kind: 'write', facts: factsOf(run) }, call, async () => {
    try {
      await wire.rpc('requestCancelWorkflowExecution', request, call)
    } catch (error) {
      // An attempt may have arrived, and the id has another use since, or none: the chain has ended.
      if (!(isGoneOrClosed(error) && error.repeated)) throw error
    }
  })
}

export async function terminate(wire: Wire, run: RunRef, reason: string | null, call: Call): Promise<void> {
  const request = { namespace: wire.namespace, workflowExecution: toExecution(run), reason, identity: IDENTITY }
  // Not repeated once it may have arrived: the second try would find the run closed, by us.
  await onOpenRun(wire, run, { kind: 'write', facts: factsOf(run) }, call, () =>
    wire.rpc('terminateWorkflowExecution', request, call, { whenLost: 'give up' }),
  )
}
