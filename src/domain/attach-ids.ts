import { type ErrorFacts, ServiceError } from './errors.ts'

/** Adds ids to an error after something was started or changed, and removes `retryAfterSeconds`: a retry would do it twice. */
export function attachIds(error: unknown, ids: Pick<ErrorFacts, 'workflowId' | 'runId' | 'updateId'>): ServiceError {
  if (!(error instanceof ServiceError))
    return new ServiceError('InternalError', 'Internal error', { cause: error, details: ids })
  const { retryAfterSeconds: _, ...details } = error.details
  return new ServiceError(error.error, error.message, { cause: error.cause, details: { ...details, ...ids } })
}
