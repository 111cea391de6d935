import { type ErrorFacts, ServiceError } from './errors.ts'

/** Once something has been started or changed an answer must name it, and must not invite to do it again. */
export function withIds(error: unknown, ids: Pick<ErrorFacts, 'workflowId' | 'runId' | 'updateId'>): ServiceError {
  if (!(error instanceof ServiceError))
    return new ServiceError('InternalError', 'Internal error', { cause: error, details: ids })
  const { retryAfterSeconds: _, ...details } = error.details
  return new ServiceError(error.error, error.message, { cause: error.cause, details: { ...details, ...ids } })
}
