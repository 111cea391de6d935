import type { Call } from '../../domain/call.ts'
import type { Started, StartRequest } from '../../domain/engine.ts'
import { WorkflowIdReusePolicy } from '../enum-numbers.ts'
import { inUse, toServiceError } from '../errors.ts'
import { Code, type Response, RpcError } from '../transport/transport.ts'
import { attended } from './attended.ts'
import { whoseRun } from './whose-run.ts'
import { IDENTITY, type Wire } from './wire.ts'

export async function start(wire: Wire, request: StartRequest, call: Call): Promise<Started> {
  const { rpc, namespace, payloads } = wire
  const { workflowId, workflowName, catalog } = request
  const input = await payloads.encode(request.args)
  const asked = {
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input,
    identity: IDENTITY,
    // One for all tries: the engine starts once, whichever of them arrive, for as long as that run is the latest of its id.
    requestId: crypto.randomUUID(),
  }
  // It may have gone on as a new run before the next try comes, and that one ended: the id would be free for a second run.
  const again = { ...asked, workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE }
  try {
    const answer = await attended(rpc, call, (call) => rpc('startWorkflowExecution', asked, call, { again }))
    return toStarted(workflowId, answer)
  } catch (error) {
    if (!isTakenOnRepeat(error)) throw toServiceError(error, { kind: 'write', facts: { workflowId } })
    const { firstRunId, runId: latestRunId } = inUse(error)
    const runId = firstRunId ?? latestRunId
    if (runId !== null && (await whoseRun(wire, { workflowId, runId }, asked.requestId, { workflowId }, call))?.isOurs)
      return { workflowId, runId, firstRunId: runId }
  }
  // Somebody else's run of that id, perhaps long ended, or deleted since: no try has arrived.
  try {
    const answer = await attended(rpc, call, (call) => rpc('startWorkflowExecution', asked, call, { repeatable: false }))
    return toStarted(workflowId, answer)
  } catch (error) {
    throw toServiceError(error, { kind: 'write', facts: { workflowId } })
  }
}

function toStarted(workflowId: string, { runId, firstExecutionRunId }: Response<'startWorkflowExecution'>): Started {
  return { workflowId, runId, firstRunId: firstExecutionRunId || runId }
}

function isTakenOnRepeat(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === Code.ALREADY_EXISTS && error.repeated
}
