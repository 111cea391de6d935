/** Ends standalone activities. */
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import type { Call } from '../../../model/call.ts'
import { activityNotRunning, type StandaloneRun } from '../../../model/standalone-activity.ts'
import { type EngineContext, identityOf } from '../../context.ts'
import { RpcError } from '../../transport/transport.ts'
import { toActivityError } from './read.ts'

/** False if the run is closed. An activity that no worker has is canceled at once. */
export async function cancelActivity(
  context: EngineContext,
  run: StandaloneRun,
  reason: string | null,
  call: Call,
): Promise<boolean> {
  try {
    await context.rpc('requestCancelActivityExecution', requestAbout(context, run, reason, call), call)
    return true
  } catch (error) {
    // An earlier attempt, or another request, may have done it.
    if (isRefused(error, /^cancellation already requested/)) return true
    if (isRefused(error, /^activity is in terminal state/)) return error.mayHaveTakenEffect
    throw toActivityError(error, run, 'write')
  }
}

/** Rejects with `ActivityNotRunningError` when the run is closed. The engine recognizes a repeated request. */
export async function terminateActivity(
  context: EngineContext,
  run: StandaloneRun,
  reason: string | null,
  call: Call,
): Promise<void> {
  try {
    await context.rpc('terminateActivityExecution', requestAbout(context, run, reason, call), call)
  } catch (error) {
    if (isRefused(error, /^(?:invalid transition from|already terminated)/)) throw activityNotRunning(run, error)
    throw toActivityError(error, run, 'write')
  }
}

function requestAbout({ namespace }: EngineContext, run: StandaloneRun, reason: string | null, call: Call) {
  const { activityId, runId } = run
  return {
    namespace,
    activityId,
    runId,
    reason: reason ?? '',
    identity: identityOf(call),
    requestId: crypto.randomUUID(),
  }
}

function isRefused(error: unknown, message: RegExp): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.FAILED_PRECONDITION && message.test(error.message)
}
