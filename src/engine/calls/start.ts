import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/call.ts'
import type { Started, StartRequest } from '../../domain/engine.ts'
import { isOpen } from '../../protocol/execution.ts'
import { startTimeOf } from '../clock.ts'
import { type EngineContext, IDENTITY } from '../context.ts'
import { idInUse, toServiceError } from '../errors.ts'
import type { LostResponseAction } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { findLatestRun, unknownOutcomeError } from './at-most-once/lost-response.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

export async function start(context: EngineContext, request: StartRequest, call: Call): Promise<Started> {
  const { rpc, payloads, clock } = context
  const { workflowId } = request
  const startWorkflow = toStartWorkflow(context, request, await payloads.encode(request.args))
  const atMostOnce = { details: { workflowId }, requestId: startWorkflow.requestId }
  const sentAt = Date.now()

  async function onLostResponse(
    error: RpcError,
    call: Call,
  ): Promise<LostResponseAction<'startWorkflowExecution', Started>> {
    const latest = await findLatestRun(context, atMostOnce, sentAt, call)
    switch (latest.kind) {
      case 'started by request':
        return { result: { workflowId, runId: latest.run.runId, firstRunId: latest.run.runId } }
      case 'none':
      case 'older than request':
        return { retryRequest: startWorkflow }
      case 'maybe newer than request':
        throw isOpen(latest.run.status)
          ? idInUse({ workflowId, runId: latest.run.runId }, error)
          : unknownOutcomeError(atMostOnce.details, error)
    }
  }

  try {
    const response = await withEngineWatchdog(rpc, call, (watched) =>
      rpc('startWorkflowExecution', startWorkflow, watched, {
        onLostResponse: (error) => onLostResponse(error, watched),
      }),
    )
    clock.observe(startTimeOf(response.runId))
    if ('firstRunId' in response) return response
    const { runId, firstExecutionRunId } = response
    return { workflowId, runId, firstRunId: firstExecutionRunId || runId }
  } catch (error) {
    throw toServiceError(error, { kind: 'write', details: atMostOnce.details })
  }
}

/** The engine's form of a start, with a new request id. */
export function toStartWorkflow(
  { namespace }: EngineContext,
  { workflowId, workflowName, catalog }: StartRequest,
  input: temporal.api.common.v1.IPayloads | null,
) {
  return {
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input,
    identity: IDENTITY,
    // All attempts share it: the engine starts one run, as long as that run is the latest of the workflow id.
    requestId: crypto.randomUUID(),
  }
}
