import { isOpen, type Status } from '../../../../shared/wire/execution.ts'
import { attachIds } from '../../../model/attach-ids.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { type ErrorFacts, ServiceError } from '../../../model/errors.ts'
import type { ExecutionRef } from '../../../model/execution.ts'
import type { EngineContext } from '../../context.ts'
import { isGoneOrClosed, type RequestFacts, toServiceError } from '../../errors.ts'
import type { RpcError } from '../../transport/transport.ts'
import { describe } from '../describe.ts'
import { type Attempts, beginAttempts, unknownOutcomeError } from './lost-response.ts'

/** The maximum number of attempts, if the workflow continues as a new run during each of them. */
export const MAX_ATTEMPTS = 3

/**
 * Sends a request to an open run.
 *
 * The engine rejects unknown and closed runs with the same error, so the run is described to tell
 * `WorkflowNotFoundError` from `WorkflowNotRunningError`. If the workflow continued as a new run meanwhile (continue-
 * as-new, retry by the engine), `act` is called again, at most twice, and never after an attempt that may have
 * reached the engine.
 */
export async function onOpenRun<T>(
  context: EngineContext,
  ref: ExecutionRef,
  request: RequestFacts,
  call: Call,
  act: (attempts: Attempts) => Promise<T>,
): Promise<T> {
  const details = { ...request.details, workflowId: ref.workflowId }
  for (let attempt = 1; ; attempt++) {
    const attempts = beginAttempts(context, ref, details)
    try {
      return await act(attempts)
    } catch (error) {
      if (!isGoneOrClosed(error)) throw toServiceError(error, request)
      const described = await describe(context, ref, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
        throw error.mayHaveTakenEffect ? attachIds(failure, details) : failure
      })
      const next = afterRejection({ error, attempt, described, attemptedRunId: attempts.ref().runId }, details)
      if (next.step === 'throw') throw next.error
    }
  }
}

export interface RejectedAttempt {
  /** The engine's error for unknown and closed runs. */
  error: RpcError
  /** 1 for the first attempt. */
  attempt: number
  /** The run that the request would reach now. */
  described: { runId: string; status: Status }
  /** The run that the attempt was sent to; undefined for the latest run. */
  attemptedRunId: string | undefined
}

export function afterRejection(
  { error, attempt, described: { runId, status }, attemptedRunId }: RejectedAttempt,
  details: ErrorFacts,
): { step: 'retry' } | { step: 'throw'; error: ServiceError } {
  const { workflowId } = details
  const found = { ...details, runId, workflowStatus: status }
  if (error.mayHaveTakenEffect && (isOpen(status) || runId !== attemptedRunId))
    return { step: 'throw', error: unknownOutcomeError(details, error) }
  if (!isOpen(status)) {
    const message = `Workflow ${workflowId} is not running; its status is ${status}`
    // Without the id of the update, because the run has not received it.
    const { updateId: _, ...closed } = found
    return {
      step: 'throw',
      error: new ServiceError('WorkflowNotRunningError', message, { cause: error, details: closed }),
    }
  }
  if (attempt < MAX_ATTEMPTS) return { step: 'retry' }
  // No attempt had an effect, so the client can retry.
  const message = `Workflow ${workflowId} continued as a new run during every attempt; retry the request`
  return {
    step: 'throw',
    error: new ServiceError('EngineUnavailableError', message, {
      cause: error,
      details: { ...found, retryAfterSeconds: 1 },
    }),
  }
}
