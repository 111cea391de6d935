import { type ErrorFacts, ServiceError } from './errors.ts'

type Ids = Pick<ErrorFacts, 'activityId' | 'batchId' | 'workflowId' | 'runId' | 'updateId'>

/** Adds ids to an error. */
export function addIds(error: unknown, ids: Ids): ServiceError {
  if (!(error instanceof ServiceError))
    return new ServiceError('InternalError', 'Internal error', { cause: error, details: ids })
  return new ServiceError(error.error, error.message, { cause: error.cause, details: { ...error.details, ...ids } })
}

/**
 * Adds ids to an error that follows a start or a change, and `mayHaveTakenEffect`. Removes `retryAfterSeconds`, because
 * a retry would start or change something twice.
 */
export function attachIds(error: unknown, ids: Ids): ServiceError {
  const { error: name, message, cause, details } = addIds(error, ids)
  const { retryAfterSeconds: _, ...rest } = details
  return new ServiceError(name, message, { cause, details: { ...rest, mayHaveTakenEffect: true } })
}
