import { atMost, type Call } from '../../domain/call.ts'
import { ServiceError } from '../../domain/errors.ts'
import { type ExecutionRef, isOpen } from '../../domain/execution.ts'
import { type Asked, isGoneOrClosed, toServiceError } from '../errors.ts'
import { describe } from './describe.ts'
import type { Wire } from './wire.ts'

// A look waits for no worker, however long that which failed might have waited for one.
export const LOOK_MS = 4000

const MAX_TRIES = 3

/**
 * Does something to an open run.
 *
 * The engine's one refusal for unknown and closed runs is told apart by a look at the run: `WorkflowNotFoundError` or
 * `WorkflowNotRunningError`. A run that went on meanwhile (continue-as-new, an engine retry) is tried again, twice.
 */
export async function onOpenRun<T>(wire: Wire, ref: ExecutionRef, asked: Asked, call: Call, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (error) {
      if (!isGoneOrClosed(error)) throw toServiceError(error, asked)
      const { runId, status } = await describe(wire, ref, atMost(call, LOOK_MS))
      if (isOpen(status)) {
        if (tries < MAX_TRIES) continue
        // It goes on faster than it can be met: nothing was done, and it can be asked again.
        throw new ServiceError('EngineUnavailableError', `Workflow ${ref.workflowId} went on under each try`, {
          cause: error,
          details: { ...asked.facts, runId, workflowStatus: status, retryAfterSeconds: 1 },
        })
      }
      throw new ServiceError('WorkflowNotRunningError', `Workflow ${ref.workflowId} is not running: it is ${status}`, {
        cause: error,
        details: { ...asked.facts, runId, workflowStatus: status },
      })
    }
  }
}
