import type { Call } from '../../domain/call.ts'
import type { Started, StartRequest } from '../../domain/engine.ts'
import { isOpen } from '../../domain/execution.ts'
import { stampOf } from '../clock.ts'
import { IDENTITY, type Wire } from '../context.ts'
import { idInUse, toServiceError } from '../errors.ts'
import type { AfterLoss } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { investigate, outcomeUnknown } from './lost-answer.ts'
import { attended } from './with-engine-watchdog.ts'

export async function start(wire: Wire, request: StartRequest, call: Call): Promise<Started> {
  const { rpc, namespace, payloads, clock } = wire
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

  async function whenLost(lost: RpcError, call: Call): Promise<AfterLoss<'startWorkflowExecution', Started>> {
    const finding = await investigate(wire, once, sentAt, call)
    if (finding.kind === 'ours')
      return { found: { workflowId, runId: finding.run.runId, firstRunId: finding.run.runId } }
    if (finding.kind !== 'later run') return { request: asked }
    const { runId, status } = finding.run
    throw isOpen(status) ? idInUse({ workflowId, runId }, lost) : outcomeUnknown(once.facts, lost)
  }

  try {
    const answer = await attended(rpc, call, (watched) =>
      rpc('startWorkflowExecution', asked, watched, { whenLost: (lost) => whenLost(lost, watched) }),
    )
    clock.saw(stampOf(answer.runId))
    if ('firstRunId' in answer) return answer
    const { runId, firstExecutionRunId } = answer
    return { workflowId, runId, firstRunId: firstExecutionRunId || runId }
  } catch (error) {
    throw toServiceError(error, { kind: 'write', facts: once.facts })
  }
}
