import type { RunRef } from '../../shared/wire/run-ref.ts'
import { ServiceError } from '../model/errors.ts'

export function questionNotFound({ workflowId, runId }: RunRef, key: string): ServiceError {
  const message = `Workflow ${workflowId} has no open question with this key, and no answer to it is recorded`
  return new ServiceError('QuestionNotFoundError', message, { details: { workflowId, runId, key } })
}

/** The error for an answer after that of somebody else. */
export function questionAnswered({ workflowId, runId, key }: RunRef & { key: string }, at: Date | null): ServiceError {
  const time = at === null ? '' : ` at ${at.toISOString()}`
  return new ServiceError('QuestionAnsweredError', `Another answer to this question was recorded${time}`, {
    details: { workflowId, runId, key, ...(at !== null && { at: at.toISOString() }) },
  })
}
