/** The errors that end a stream, or that say why its readers wait. */

import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { Problem } from '../../../model/problem.ts'
import { executionIds } from '../../context.ts'

export function streamNotFound(run: RunRef): ServiceError {
  const message = `Workflow ${run.workflowId} has no stream: its code opens none. GET /workflow/:id/history/stream has the events of every workflow`
  return new ServiceError('StreamNotFoundError', message, { details: executionIds(run) })
}

/** For a run that is not polled any more. */
export function poisoned(run: RunRef, problem: Problem | undefined): ServiceError {
  const message = `Workflow ${run.workflowId} fails because what it sends is too large, probably an item of its stream, so its stream is not read; reset or terminate it`
  return new ServiceError('WorkflowNotReadyError', message, {
    details: { ...executionIds(run), ...(problem && { problem }) },
  })
}

export function exhausted(run: RunRef): ServiceError {
  const message = `The stream of workflow ${run.workflowId} has used up the updates that readers may send to one run; its workflow must continue as new`
  return new ServiceError('ResourceExhaustedError', message, {
    details: { ...executionIds(run), retryAfterSeconds: 60 },
  })
}
