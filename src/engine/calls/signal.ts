import type { Call } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { factsOf, IDENTITY, toExecution, type Wire } from '../context.ts'
import { onOpenRun } from './on-open-run.ts'

export async function signal(
  wire: Wire,
  ref: ExecutionRef,
  { name, args }: Message,
  call: Call,
): Promise<{ runId: string | null }> {
  const request = {
    namespace: wire.namespace,
    workflowExecution: toExecution(ref),
    signalName: name,
    input: await wire.payloads.encode(args),
    identity: IDENTITY,
    // One for all attempts: a run takes the signal once, whichever of them arrive.
    requestId: crypto.randomUUID(),
  }
  const { link } = await onOpenRun(wire, ref, { kind: 'write', facts: factsOf(ref) }, call, ({ repeat }) =>
    wire.rpc('signalWorkflowExecution', request, call, { whenLost: repeat(request, call) }),
  )
  return { runId: link?.workflowEvent?.runId || ref.runId || null }
}
