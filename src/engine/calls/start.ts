import type { Call } from '../../domain/call.ts'
import type { Started, StartRequest } from '../../domain/engine.ts'
import { toServiceError } from '../errors.ts'
import { attended } from './attended.ts'
import { IDENTITY, type Wire } from './wire.ts'

export async function start({ rpc, namespace, payloads }: Wire, request: StartRequest, call: Call): Promise<Started> {
  const { workflowId, workflowName, catalog } = request
  const input = await payloads.encode([request.input])
  const asked = {
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input,
    identity: IDENTITY,
    // One for all tries: the engine starts once, whichever of them arrive.
    requestId: crypto.randomUUID(),
  }
  try {
    const { runId, firstExecutionRunId } = await attended(rpc, call, (call) => rpc('startWorkflowExecution', asked, call))
    return { workflowId, runId, firstRunId: firstExecutionRunId || runId }
  } catch (error) {
    throw toServiceError(error, { kind: 'write', facts: { workflowId } })
  }
}
