import { withIds } from '../../domain/attach-ids.ts'
import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { isOpen } from '../../protocol/execution.ts'
import type { EngineContext } from '../context.ts'
import { type Asked, isGoneOrClosed, toServiceError } from '../errors.ts'
import { describe } from './describe.ts'
import { type Attempts, beginAttempts, unknownOutcomeError } from './lost-response.ts'

const MAX_TRIES = 3

/**
 * Does something to an open run.
 *
 * The engine's one refusal for unknown and closed runs is told apart by a look at the run: `WorkflowNotFoundError` or
 * `WorkflowNotRunningError`. When the workflow continued as a new run meanwhile (continue-as-new, an engine retry), `act`
 * is called again, at most twice, and never once an attempt may have arrived.
 */
export async function onOpenRun<T>(
  context: EngineContext,
  ref: ExecutionRef,
  asked: Asked,
  call: Call,
  act: (attempts: Attempts) => Promise<T>,
): Promise<T> {
  const facts = { ...asked.facts, workflowId: ref.workflowId }
  for (let tries = 1; ; tries++) {
    const attempts = beginAttempts(context, ref, facts)
    try {
      return await act(attempts)
    } catch (error) {
      if (!isGoneOrClosed(error)) throw toServiceError(error, asked)
      const { runId, status } = await describe(context, ref, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
        throw error.mayHaveTakenEffect ? withIds(failure, facts) : failure
      })
      if (error.mayHaveTakenEffect && (isOpen(status) || runId !== attempts.ref.runId))
        throw unknownOutcomeError(facts, error)
      if (isOpen(status)) {
        if (tries < MAX_TRIES) continue
        // Nothing was done, so the request can be sent again.
        throw new ServiceError(
          'EngineUnavailableError',
          `Workflow ${ref.workflowId} continued as a new run during every attempt; send the request again`,
          {
            cause: error,
            details: { ...facts, runId, workflowStatus: status, retryAfterSeconds: 1 },
          },
        )
      }
      throw new ServiceError('WorkflowNotRunningError', `Workflow ${ref.workflowId} is not running: it is ${status}`, {
        cause: error,
        details: { ...facts, runId, workflowStatus: status },
      })
    }
  }
}
