import type { Call } from '../../model/call.ts'
import type { Signal } from '../../model/engine.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { type EngineContext, executionIds, identityOf, requestHeaders, toExecution } from '../context.ts'
import { onOpenRun } from './at-most-once/on-open-run.ts'

export async function signalOnce(
  context: EngineContext,
  ref: ExecutionRef,
  { name, args, headers, requestId = crypto.randomUUID() }: Signal,
  call: Call,
): Promise<{ runId: string | null }> {
  const { header, payloads } = requestHeaders(call, headers)
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(ref),
    signalName: name,
    input: await context.payloads.encode(args, payloads),
    ...(header !== null && { header }),
    identity: identityOf(call),
    // All attempts share it: a run accepts the signal once, even if several of them arrive.
    requestId,
  }
  const { link } = await onOpenRun(context, ref, { kind: 'write', details: executionIds(ref) }, call, (attempts) =>
    context.rpc('signalWorkflowExecution', request, call, {
      async onLostResponse(lost) {
        const pinned = await attempts.pinAfterLoss(lost, call)
        return { retryRequest: { ...request, workflowExecution: toExecution(pinned) } }
      },
    }),
  )
  return { runId: link?.workflowEvent?.runId || ref.runId || null }
}
