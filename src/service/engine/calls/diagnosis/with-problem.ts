import { type Call, forExplanation, isAbortedByService } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { ExecutionRef } from '../../../model/execution.ts'
import { describeProblem, type Problem } from '../../../model/problem.ts'
import type { EngineContext } from '../../context.ts'
import { notReadyMessage } from '../../errors.ts'
import { describe } from '../describe.ts'

/**
 * If no worker responded, adds to the error why the run makes no progress, and its run id.
 *
 * `ref` is null if the caller does not know the run. Then the error may contain its ids.
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
    throw error instanceof ServiceError && needsProblem(error) && hasClient(call)
      ? await addProblem(context, ref, call, error)
      : error
  }
}

function needsProblem({ error, details }: ServiceError): boolean {
  return (
    error === 'DeadlineExceededError' || (error === 'WorkflowNotReadyError' && details.workflowStatus === undefined)
  )
}

function hasClient({ signal }: Call): boolean {
  return !signal.aborted || isAbortedByService(signal)
}

async function addProblem(
  context: EngineContext,
  ref: ExecutionRef | null,
  call: Call,
  error: ServiceError,
): Promise<ServiceError> {
  const { workflowId, runId } = error.details
  const run = workflowId !== undefined && runId !== undefined ? { workflowId, runId } : ref
  if (run === null) return error
  const bounded = forExplanation(call, TIMEOUT_MS.explanation)
  try {
    const { runId: describedRunId, failingTask } = await describe(context, run, bounded)
    const problem = await failingTask?.problem(bounded)
    const details = { ...error.details, runId: describedRunId, ...(problem && { problem }) }
    const message = problem ? withReason(error, problem) : error.message
    return new ServiceError(error.error, message, { cause: error.cause, details })
  } catch (runUnread) {
    // The response is late already, and complete without the problem.
    if (run.runId === undefined) call.note({ runUnread })
    return error
  }
}

function withReason({ error, message, details }: ServiceError, problem: Problem): string {
  // The message of a `WorkflowNotReadyError` lists the possible reasons; here the reason is known.
  const statement = error === 'WorkflowNotReadyError' ? notReadyMessage(details.workflowId) : message
  return `${statement}; ${describeProblem(problem)}`
}
