import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import { pauseNotEnabled } from '../../model/errors.ts'
import { type EngineContext, executionIds, identityOf } from '../context.ts'
import { RpcError } from '../transport/transport.ts'
import { onOpenRun } from './at-most-once/on-open-run.ts'
import { namespaceCapabilities } from './namespace-capabilities.ts'

/** Pauses an open run. Not an error when it is paused already. */
export function pauseRun(context: EngineContext, run: RunRef, reason: string | null, call: Call): Promise<void> {
  return send(context, 'pauseWorkflowExecution', run, reason, call)
}

/** Continues an open run. Not an error when it is not paused. */
export function unpauseRun(context: EngineContext, run: RunRef, reason: string | null, call: Call): Promise<void> {
  return send(context, 'unpauseWorkflowExecution', run, reason, call)
}

async function send(
  context: EngineContext,
  method: 'pauseWorkflowExecution' | 'unpauseWorkflowExecution',
  run: RunRef,
  reason: string | null,
  call: Call,
): Promise<void> {
  const { workflowId, runId } = run
  const { namespace, rpc } = context
  const requestId = crypto.randomUUID()
  const request = { namespace, workflowId, runId, reason: reason ?? '', identity: identityOf(call), requestId }
  await onOpenRun(context, run, { kind: 'write', details: executionIds(run) }, call, async () => {
    try {
      await rpc(method, request, call)
    } catch (error) {
      if (isNotEnabled(error)) throw pauseNotEnabled(run, error)
      if (!isDone(error)) throw error
      // Where pausing is not enabled, the engine does not reject this call, but reports that the run is not paused.
      if (method === 'unpauseWorkflowExecution' && !(await pauseSupported(context, call)))
        throw pauseNotEnabled(run, error)
    }
  })
}

/**
 * Whether the run is in the requested state already: because of an earlier request, or of an attempt whose response was
 * lost.
 */
function isDone(error: unknown): error is RpcError {
  return (
    error instanceof RpcError &&
    error.code === GrpcCode.FAILED_PRECONDITION &&
    /^workflow is (?:already|not) paused/i.test(error.message)
  )
}

function isNotEnabled(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.UNIMPLEMENTED
}

/** Whether runs of the namespace can be paused. */
export async function pauseSupported(context: EngineContext, call: Call): Promise<boolean> {
  return (await namespaceCapabilities(context, call)).workflowPause === true
}
