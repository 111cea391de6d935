import { type Call, SHUTTING_DOWN, unabortable } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { describeProblem, type Problem } from '../../domain/status/problem.ts'
import type { EngineContext } from '../context.ts'
import { describe } from './describe.ts'

/**
 * Rejects as `act` does. Where a worker has not answered, the refusal also says of which run, and what keeps that run from
 * going on. `ref` is null where only the refusal knows the run.
 */
export async function withProblem<T>(
  context: EngineContext,
  ref: ExecutionRef | null,
  call: Call,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof ServiceError && isUnanswered(error) && hasReader(call)
      ? await explained(context, ref, call, error)
      : error
  }
}

function isUnanswered({ error, details }: ServiceError): boolean {
  return (
    error === 'DeadlineExceededError' || (error === 'WorkflowNotReadyError' && details.workflowStatus === undefined)
  )
}

function hasReader({ signal }: Call): boolean {
  return !signal.aborted || signal.reason === SHUTTING_DOWN
}

async function explained(
  context: EngineContext,
  ref: ExecutionRef | null,
  call: Call,
  error: ServiceError,
): Promise<ServiceError> {
  const { workflowId, runId } = error.details
  const run = workflowId !== undefined && runId !== undefined ? { workflowId, runId } : ref
  if (run === null) return error
  const look = unabortable(call, TIMEOUT_MS.explanation)
  try {
    const { runId: described, failingTask } = await describe(context, run, look)
    const problem = await failingTask?.problem(look)
    const details = { ...error.details, runId: described, ...(problem && { problem }) }
    return new ServiceError(error.error, problem ? withReason(error, problem) : error.message, {
      cause: error.cause,
      details,
    })
  } catch {
    // The answer is late as it is, and complete without the look too.
    return error
  }
}

function withReason({ error, message, details }: ServiceError, problem: Problem): string {
  // Its own message has to guess.
  const said = error === 'WorkflowNotReadyError' ? `Workflow ${details.workflowId} can't take this now` : message
  return `${said}; ${describeProblem(problem)}`
}
