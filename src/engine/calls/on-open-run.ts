import { withIds } from '../../domain/attach-ids.ts'
import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { ServiceError } from '../../domain/errors.ts'
import { type ExecutionRef, isOpen } from '../../domain/execution.ts'
import type { Wire } from '../context.ts'
import { type Asked, isGoneOrClosed, toServiceError } from '../errors.ts'
import { describe } from './describe.ts'
import { type Attempts, beginAttempts, outcomeUnknown } from './lost-answer.ts'

const MAX_TRIES = 3

/**
 * Does something to an open run.
 *
 * The engine's one refusal for unknown and closed runs is told apart by a look at the run: `WorkflowNotFoundError` or
 * `WorkflowNotRunningError`. When the workflow continued as a new run meanwhile (continue-as-new, an engine retry), `act`
 * is called again, at most twice, and never once an attempt may have arrived.
 */
export async function onOpenRun<T>(
  wire: Wire,
  ref: ExecutionRef,
  asked: Asked,
  call: Call,
  act: (attempts: Attempts) => Promise<T>,
): Promise<T> {
  const facts = { ...asked.facts, workflowId: ref.workflowId }
  for (let tries = 1; ; tries++) {
    const attempts = beginAttempts(wire, ref, facts)
    try {
      return await act(attempts)
    } catch (error) {
      if (!isGoneOrClosed(error)) throw toServiceError(error, asked)
      const { runId, status } = await describe(wire, ref, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
        throw error.repeated ? withIds(failure, facts) : failure
      })
      if (error.repeated && (isOpen(status) || runId !== attempts.ref.runId)) throw outcomeUnknown(facts, error)
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
