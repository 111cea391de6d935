import type { Call } from '../../domain/call.ts'
import type { Started, StartRequest } from '../../domain/engine.ts'
import { isOpen } from '../../protocol/execution.ts'
import { startTimeOf } from '../clock.ts'
import { type EngineContext, IDENTITY } from '../context.ts'
import { idInUse, toServiceError } from '../errors.ts'
import type { AfterLoss } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { investigate, unknownOutcomeError } from './lost-response.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

export async function start(context: EngineContext, request: StartRequest, call: Call): Promise<Started> {
  const { rpc, namespace, payloads, clock } = context
  const { workflowId, workflowName, catalog } = request
  const input = await payloads.encode(request.args)
  const asked = {
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input,
    identity: IDENTITY,
    // One for all attempts: the engine starts once, whichever of them arrive, while that run is the latest of its id.
    requestId: crypto.randomUUID(),
  }
  const once = { facts: { workflowId }, requestId: asked.requestId }
  const sentAt = Date.now()

  async function onLostResponse(lost: RpcError, call: Call): Promise<AfterLoss<'startWorkflowExecution', Started>> {
    const finding = await investigate(context, once, sentAt, call)
    if (finding.kind === 'ours')
      return { found: { workflowId, runId: finding.run.runId, firstRunId: finding.run.runId } }
    if (finding.kind !== 'later run') return { request: asked }
    const { runId, status } = finding.run
    throw isOpen(status) ? idInUse({ workflowId, runId }, lost) : unknownOutcomeError(once.facts, lost)
  }

  try {
    const answer = await withEngineWatchdog(rpc, call, (watched) =>
      rpc('startWorkflowExecution', asked, watched, { onLostResponse: (lost) => onLostResponse(lost, watched) }),
    )
    clock.saw(startTimeOf(answer.runId))
    if ('firstRunId' in answer) return answer
    const { runId, firstExecutionRunId } = answer
    return { workflowId, runId, firstRunId: firstExecutionRunId || runId }
  } catch (error) {
    throw toServiceError(error, { kind: 'write', facts: once.facts })
  }
}
