import { atMost, type Call } from '../../domain/call.ts'
import { ServiceError } from '../../domain/errors.ts'
import { type ExecutionRef, isOpen } from '../../domain/execution.ts'
import { type Asked, isGoneOrClosed, toServiceError } from '../errors.ts'
import { describe } from './describe.ts'
import type { Wire } from './wire.ts'

// A look waits for no worker, however long that which failed might have waited for one.
export const LOOK_MS = 4000

/**
 * Does something to an open run.
 *
 * The engine's one refusal for unknown and closed runs is told apart by a look at the run: `WorkflowNotFoundError` or
 * `WorkflowNotRunningError`. A run that went on meanwhile (continue-as-new, an engine retry) is tried once more.
 */
export async function onOpenRun<T>(wire: Wire, ref: ExecutionRef, asked: Asked, call: Call, act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (!isGoneOrClosed(error)) throw toServiceError(error, asked)
      const { runId, status } = await describe(wire, ref, atMost(call, LOOK_MS))
      if (isOpen(status) && attempt === 1) continue
      throw new ServiceError('WorkflowNotRunningError', `Workflow ${ref.workflowId} is not running: it is ${status}`, {
        cause: error,
        details: { ...asked.facts, runId, workflowStatus: status },
      })
    }
  }
}
