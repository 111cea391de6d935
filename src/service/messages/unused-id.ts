import { decideFresh } from '../../shared/lib/cache.ts'
import { atMost, type Call, withinCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import type { KnownRun } from '../start/known-runs.ts'

/**
 * Rejects a message whose id is that of the message that the start of the run carried: the engine would accept it, but
 * not deliver it. A message whose run cannot be read in time is admitted.
 */
export async function assertUnusedId(
  { knownRuns, now }: Pick<Ports, 'knownRuns' | 'now'>,
  ref: ExecutionRef,
  messageId: string,
  call: Call,
): Promise<void> {
  const readCall = atMost(call, TIMEOUT_MS.describe)
  const isCarrier = ({ carriedId }: KnownRun) => carriedId === messageId
  try {
    const { value: run } = await decideFresh(
      async (freshSince) => withinCall(knownRuns.read(ref, freshSince), readCall),
      ({ value, readAt }) => (isCarrier(value) ? readAt : null),
      now,
    )
    if (isCarrier(run)) throw usedByStart({ workflowId: ref.workflowId, runId: run.runId })
  } catch (error) {
    if (hasErrorName(error, 'IdempotencyKeyReusedError')) throw error
    // If the run does not exist, the engine reports that.
    if (!hasErrorName(error, 'WorkflowNotFoundError')) call.note({ keyUnchecked: String(error) })
  }
}

function usedByStart(details: { workflowId: string; runId: string }): ServiceError {
  const message =
    'The Idempotency-Key was used for another request: the one that started the workflow with this message'
  return new ServiceError('IdempotencyKeyReusedError', message, { details })
}
