import { creationTimeOf } from '../../../shared/lib/new-id.ts'
import { attachIds } from '../../model/attach-ids.ts'
import { atMost, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import type { EngineStart, Message, SignaledRun } from '../../model/engine.ts'
import { type EngineContext, toExecution, toPayloads } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import type { LostResponseAction } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { isStartedByRequest } from './at-most-once/find-run.ts'
import { findLatestRun } from './at-most-once/lost-response.ts'
import { afterRejection, MAX_ATTEMPTS } from './at-most-once/on-open-run.ts'
import { stepAfterLostResponse } from './at-most-once/update-with-start-step.ts'
import { describe } from './describe.ts'
import { rejectedOption } from './rejected-option.ts'
import { toStartWorkflow } from './start.ts'

type SignalWithStart = 'signalWithStartWorkflowExecution'

/** Why the run is described before a retry: docs/decisions/018-retrying-update-with-start.md. */
export async function signalOrStart(
  context: EngineContext,
  request: EngineStart,
  message: Message,
  call: Call,
): Promise<SignaledRun> {
  const { rpc, clock } = context
  const { workflowId } = request
  // Encoded in one call: the size limit holds for both together. The headers of the start are those of the signal too.
  const { startWorkflow, otherPayloads } = await toStartWorkflow(context, request, call, { others: message.args })
  const signalInput = toPayloads(otherPayloads)
  const toSend = { ...startWorkflow, signalName: message.name, signalInput }
  const atMostOnce = { details: { workflowId }, requestId: startWorkflow.requestId }
  const sentAt = Date.now()
  let isResent = false

  async function onLostResponse(error: RpcError): Promise<LostResponseAction<SignalWithStart, SignaledRun>> {
    const latest = await findLatestRun(context, atMostOnce, sentAt, call)
    const lost = { error, latest, sentAfter: clock.earliest(sentAt), usesExisting: true }
    const next = stepAfterLostResponse(lost, atMostOnce.details)
    if (next.step === 'throw') throw next.error
    if (next.step === 'poll') {
      const { runId, started } = next
      // A run that this request started has received the signal with the start.
      if (started || (await sendSignalAlone(runId))) return { result: { workflowId, runId, started } }
    }
    isResent = true
    return { retryRequest: toSend }
  }

  /**
   * Sends the signal to a run that may have received it already, which recognizes the request id. False if the run has
   * closed without the signal.
   */
  async function sendSignalAlone(runId: string): Promise<boolean> {
    const { namespace, header, identity, requestId } = startWorkflow
    const signal = {
      namespace,
      signalName: message.name,
      input: signalInput,
      ...(header && { header }),
      identity,
      requestId,
    }
    try {
      await rpc('signalWorkflowExecution', { ...signal, workflowExecution: toExecution({ workflowId, runId }) }, call)
      return true
    } catch (error) {
      if (isGoneOrClosed(error)) return false
      throw attachIds(toServiceError(error, { kind: 'write', details: {} }), { workflowId, runId })
    }
  }

  try {
    const response = await rpc('signalWithStartWorkflowExecution', toSend, call, { onLostResponse })
    if ('workflowId' in response) return response
    const { runId, started } = response
    clock.observe(creationTimeOf(runId))
    // The engine reports a resent start as one that found the run, even if an earlier attempt has started it.
    return {
      workflowId,
      runId,
      started: started || (isResent && (await isStartedByRequest(context, atMostOnce, runId, call))),
    }
  } catch (error) {
    if (isGoneOrClosed(error)) throw await closedBySignal(context, error, workflowId, call)
    throw rejectedOption(error, request) ?? toServiceError(error, { kind: 'write', details: atMostOnce.details })
  }
}

/** The error if the engine has terminated the run, because the signal would have made its history too long. */
async function closedBySignal(context: EngineContext, error: RpcError, workflowId: string, call: Call): Promise<Error> {
  const details = { workflowId }
  const described = await describe(context, details, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
    throw attachIds(failure, details)
  })
  const next = afterRejection({ error, attempt: MAX_ATTEMPTS, described, attemptedRunId: undefined }, details)
  return next.step === 'throw' ? next.error : error
}
