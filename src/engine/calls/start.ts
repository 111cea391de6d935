import type { Call } from '../../domain/model/call.ts'
import type { StartedRun, StartRequest } from '../../domain/model/engine.ts'
import { idInUse } from '../../domain/model/errors.ts'
import { isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { WorkflowIdConflictPolicy } from '../../temporal/enums.ts'
import { toMemo } from '../../temporal/memo.ts'
import type { Payload } from '../../temporal/payload.ts'
import { toStatus } from '../../temporal/status.ts'
import { startTimeOf } from '../clock.ts'
import { type EngineContext, identityOf, toExecution } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import { toPayloads } from '../payloads.ts'
import type { LostResponseAction } from '../rpc.ts'
import type { Request, RpcError } from '../transport/transport.ts'
import { type FoundRun, toLookupError } from './at-most-once/find-run.ts'
import { findLatestRun, unknownOutcomeError } from './at-most-once/lost-response.ts'
import { rejectedOption } from './rejected-option.ts'
import { requestHeaders } from './request-headers.ts'
import { encodedValues, toStartOptions } from './start-options.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

export async function start(context: EngineContext, request: StartRequest, call: Call): Promise<StartedRun> {
  const { rpc, clock } = context
  const { workflowId, options = {} } = request
  const { startWorkflow } = await toStartWorkflow(context, request, call)
  const atMostOnce = { details: { workflowId }, requestId: startWorkflow.requestId }
  const sentAt = Date.now()

  async function onLostResponse(
    error: RpcError,
    call: Call,
  ): Promise<LostResponseAction<'startWorkflowExecution', StartedRun>> {
    const latest = await findLatestRun(context, atMostOnce, sentAt, call)
    switch (latest.kind) {
      case 'started by request':
        return { result: { workflowId, runId: latest.run.runId, firstRunId: latest.run.runId } }
      case 'none':
        return { retryRequest: await withoutTermination(null, call) }
      case 'older than request':
        return { retryRequest: await withoutTermination(latest.run, call) }
      case 'maybe newer than request':
        return afterOther(latest.run, error)
    }
  }

  /** Another client has used the id since, or at about the same time. */
  function afterOther({ runId, firstRunId, status }: FoundRun, error: RpcError): { result: StartedRun } {
    const { workflowIdConflictPolicy: policy = 'fail' } = options
    // The newer run may have terminated ours. Sending the start again would terminate the newer run.
    if (!isOpen(status) || policy === 'terminate-existing') throw unknownOutcomeError(atMostOnce.details, error)
    if (policy === 'use-existing') return { result: { workflowId, runId, firstRunId, isExisting: true } }
    throw idInUse({ workflowId, runId }, error)
  }

  /**
   * The request to send again, which terminates nothing. A run that it would have terminated is terminated here, by its
   * run id.
   */
  async function withoutTermination(older: FoundRun | null, call: Call): Promise<Request<'startWorkflowExecution'>> {
    if (options.workflowIdConflictPolicy !== 'terminate-existing') return startWorkflow
    if (older !== null && isOpen(older.status)) await terminateOnce(context, { workflowId, runId: older.runId }, call)
    return { ...startWorkflow, workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL }
  }

  try {
    const response = await withEngineWatchdog(rpc, call, (watched) =>
      rpc('startWorkflowExecution', startWorkflow, watched, {
        onLostResponse: (error) => onLostResponse(error, watched),
      }),
    )
    clock.observe(startTimeOf(response.runId))
    if ('firstRunId' in response) return response
    const { runId, firstExecutionRunId, started } = response
    const status = toStatus(response.status)
    // Older engines do not set `started`, but only with `use-existing` can the engine return a run that it has not
    // started.
    const isExisting = !started && options.workflowIdConflictPolicy === 'use-existing'
    return {
      workflowId,
      runId,
      firstRunId: firstExecutionRunId || runId,
      ...(isExisting && { isExisting }),
      ...(!isOpen(status) && { endedStatus: status }),
    }
  } catch (error) {
    throw rejectedOption(error, request) ?? toServiceError(error, { kind: 'write', details: atMostOnce.details })
  }
}

/** Checks the size and the encoding of a start without sending it. */
export async function checkStart(context: EngineContext, request: StartRequest, call: Call): Promise<void> {
  await toStartWorkflow(context, request, call)
}

/**
 * The engine's form of a start, with a new request id. `others` are arguments that the same call carries, which
 * `otherPayloads` returns encoded.
 */
export async function toStartWorkflow(
  { namespace, payloads }: EngineContext,
  request: StartRequest,
  call: Call,
  { others = [], otherHeaders = [] }: { others?: readonly unknown[]; otherHeaders?: readonly Payload[] } = {},
) {
  const { workflowId, workflowName, catalog, args, options = {}, protocolMemo } = request
  const { requestId = crypto.randomUUID() } = request
  const { header, payloads: headerPayloads } = requestHeaders(call, options.headers)
  const lists = [args, others, ...encodedValues(options)]
  const [input = [], otherPayloads = [], ...encoded] = await payloads.encodeLists(lists, [
    ...headerPayloads,
    ...otherHeaders,
  ])
  const { memo, ...startOptions } = toStartOptions(options, encoded)
  const fields = { ...memo?.fields, ...(protocolMemo && toMemo(protocolMemo).fields) }
  const startWorkflow = {
    ...startOptions,
    ...(Object.keys(fields).length > 0 && { memo: { fields } }),
    namespace,
    workflowId,
    workflowType: { name: workflowName },
    taskQueue: { name: catalog },
    input: toPayloads(input),
    identity: identityOf(call),
    // All attempts share it: the engine starts one run, as long as that run is the latest of the workflow id.
    requestId,
    ...(header !== null && { header }),
  }
  return { startWorkflow, otherPayloads }
}

/** Terminates this run, unless it is closed already, for a start with `terminate-existing` whose response was lost. */
async function terminateOnce({ rpc, namespace }: EngineContext, run: RunRef, call: Call): Promise<void> {
  const request = {
    namespace,
    workflowExecution: toExecution(run),
    reason: 'a new run of the workflow id starts',
    identity: identityOf(call),
  }
  try {
    await rpc('terminateWorkflowExecution', request, call)
  } catch (error) {
    if (!isGoneOrClosed(error)) throw toLookupError(error, { workflowId: run.workflowId })
  }
}
