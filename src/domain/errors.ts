import type { Status } from '../protocol/execution.ts'
import type { Problem } from './status/problem.ts'

/** The wire's error names. */
export type ErrorName =
  | 'ValidationError'
  | 'UnauthorizedError'
  | 'ForbiddenError'
  | 'NotFoundError'
  | 'MethodNotAllowedError'
  | 'WorkflowNotFoundError'
  | 'HandlerNotFoundError'
  | 'CatalogNotFoundError'
  | 'TraceNotAvailableError'
  | 'WorkflowExecutionTimedOutError'
  | 'RequestTimeoutError'
  | 'WorkflowAlreadyStartedError'
  | 'WorkflowNotRunningError'
  | 'WorkflowNotReadyError'
  | 'PayloadTooLargeError'
  | 'UnsupportedMediaTypeError'
  | 'QueryFailedError'
  | 'UpdateFailedError'
  | 'UnsupportedWorkflowError'
  | 'WorkflowNotCompletedError'
  | 'ResourceExhaustedError'
  | 'CatalogNotAvailableError'
  | 'InternalError'
  | 'NotSupportedError'
  | 'EngineError'
  | 'PayloadCodecError'
  | 'EngineUnavailableError'
  | 'DeadlineExceededError'

/** One thing wrong with a request; `path` is a JSON Pointer into the body. */
export interface Issue {
  path: string
  message: string
}

/** What the caller can act on. */
export interface ErrorFacts {
  workflowId?: string
  runId?: string
  workflowStatus?: Status
  updateId?: string
  /** Why the run does not go on, where that is known. */
  problem?: Problem
  /** Of a value that is stored outside the engine. */
  sizeBytes?: number
  /** Names the caller could have used instead. */
  available?: string[]
  issues?: Issue[]
  /** Who refused, where the name alone does not say. */
  source?: 'workflow' | 'engine' | 'gateway'
  /** Set only where trying again can't do the work twice. */
  retryAfterSeconds?: number
}

/** What we expect to go wrong. Anything else that is thrown is a bug and leaves as an opaque 500. */
export class ServiceError extends Error {
  readonly error: ErrorName
  readonly details: ErrorFacts

  constructor(error: ErrorName, message: string, options: { cause?: unknown; details?: ErrorFacts } = {}) {
    super(message, { cause: options.cause })
    this.name = error
    this.error = error
    this.details = options.details ?? {}
  }
}
