import type { ErrorDetails, Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Problem } from './problem.ts'

/** The names of errors in responses. They never change. */
export type ErrorName =
  | 'ValidationError'
  | 'InvalidPageTokenError'
  | 'UnauthorizedError'
  | 'ForbiddenError'
  | 'NotFoundError'
  | 'MethodNotAllowedError'
  | 'WorkflowNotFoundError'
  | 'ScheduleNotFoundError'
  | 'BatchNotFoundError'
  | 'HandlerNotFoundError'
  | 'UpdateNotFoundError'
  | 'StreamNotFoundError'
  | 'StepNotFoundError'
  | 'ActivityNotFoundError'
  | 'QuestionNotFoundError'
  | 'LinkNotFoundError'
  | 'CatalogNotFoundError'
  | 'TraceNotAvailableError'
  | 'WorkflowExecutionTimedOutError'
  | 'RequestTimeoutError'
  | 'WorkflowAlreadyStartedError'
  | 'WorkflowNotRunningError'
  | 'ActivityAlreadyStartedError'
  | 'ActivityNotRunningError'
  | 'ActivityExecutionTimedOutError'
  | 'ActivityNotCompletedError'
  | 'ActivityFailedError'
  | 'UnsupportedActivityError'
  | 'WorkflowNotReadyError'
  | 'StepNotCompletedError'
  | 'QuestionAnsweredError'
  | 'LinkUsedError'
  | 'LinkExpiredError'
  | 'PreconditionFailedError'
  | 'PayloadTooLargeError'
  | 'IdempotencyKeyReusedError'
  | 'UnsupportedMediaTypeError'
  | 'QueryFailedError'
  | 'UpdateFailedError'
  | 'WorkflowFailedError'
  | 'UnsupportedWorkflowError'
  | 'WorkflowNotCompletedError'
  | 'OutcomeUnknownError'
  | 'ResultUnreadableError'
  | 'TooManyRequestsError'
  | 'ResourceExhaustedError'
  | 'CatalogNotAvailableError'
  | 'AuthUnavailableError'
  | 'InternalError'
  | 'NotSupportedError'
  | 'EngineError'
  | 'PayloadCodecError'
  | 'EngineUnavailableError'
  | 'OverloadedError'
  | 'DeadlineExceededError'

/** One invalid value of a request; `path` is a JSON Pointer into the body, or into the query parameters. */
export interface Issue {
  path: string
  message: string
}

/** The maximum number of names in `available`: a longer list would not help. */
export const MAX_AVAILABLE = 50

/** The ids of what is neither a run nor an activity, as errors and the audit log name them. */
export const RESOURCE_IDS = ['scheduleId', 'batchId'] as const

export type ResourceIds = { [Name in (typeof RESOURCE_IDS)[number]]?: string }

/** What a client can act on; part of the response body. */
export interface ErrorFacts extends ResourceIds {
  workflowId?: string
  runId?: string
  workflowStatus?: Status
  updateId?: string
  /** Set for an update that the workflow has accepted: its result can be read later. */
  stage?: 'accepted' | 'completed'
  activityId?: string
  /** Of a standalone activity. */
  activityStatus?: Status
  /** The key of a question. */
  key?: string
  /** Set if the activity has completed. */
  completed?: true
  /** Why the run makes no progress, if that is known. */
  problem?: Problem
  /** Why the workflow did not complete. */
  errorDetails?: ErrorDetails
  /** Size of a value that is stored outside the engine. */
  sizeBytes?: number
  /** What the policy does not allow: a verb, with the handler if there is one. */
  action?: string
  /** Names that would have been accepted. */
  available?: string[]
  issues?: Issue[]
  /** The answer for which a link was used: the label of the choice. */
  recorded?: string
  /** When it was recorded, in ISO 8601. */
  at?: string
  /** What rejected the request, when it differs from the default for the error's name. */
  source?: 'workflow' | 'engine' | 'gateway'
  /** Set only when a retry cannot do the work twice. */
  retryAfterSeconds?: number
  /** Set if the request may have been carried out. Not part of the response: the name of the error says it. */
  mayHaveTakenEffect?: true
}

/** An expected error. Any other error that is thrown is a bug, and becomes a 500 without details. */
export class ServiceError extends Error {
  readonly error: ErrorName
  readonly details: ErrorFacts
  /** Only for the log: what the response must not say, without any value of the credential. */
  readonly reason: string | undefined

  constructor(
    error: ErrorName,
    message: string,
    options: { cause?: unknown; details?: ErrorFacts; reason?: string } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = error
    this.error = error
    this.details = options.details ?? {}
    this.reason = options.reason
  }
}

export function hasErrorName(error: unknown, ...names: ErrorName[]): error is ServiceError {
  return error instanceof ServiceError && names.includes(error.error)
}

/** The error for one invalid value of a request. */
export function invalidValue(path: string, message: string): ServiceError {
  return new ServiceError('ValidationError', `${path} ${message}`, { details: { issues: [{ path, message }] } })
}

/** Whether the error is a transient outage of the engine or the codec, during which a wait continues. */
export function isOutage(error: unknown): error is ServiceError {
  return hasErrorName(error, 'EngineUnavailableError', 'PayloadCodecError', 'ResourceExhaustedError')
}

/** For `catch`: null if the workflow does not exist. */
export function nullWhenNotFound(error: unknown): null {
  if (hasErrorName(error, 'WorkflowNotFoundError')) return null
  throw error
}

/** The run, or with `workflowId` alone any run of that id, does not exist. */
export function workflowNotFound(ref: Pick<RunRef, 'workflowId'> & Partial<RunRef>): ServiceError {
  return new ServiceError('WorkflowNotFoundError', notFoundMessage(ref), { details: { ...ref } })
}

export function notFoundMessage({ workflowId, runId }: Pick<ErrorFacts, 'workflowId' | 'runId'>): string {
  return runId === undefined ? `Workflow ${workflowId} not found` : `Workflow ${workflowId} has no run ${runId}`
}

/** No worker responded in time to a query of the stream. */
export function streamUnanswered({ workflowId, runId }: RunRef): ServiceError {
  const message = `No worker responded in time to the reader of the stream of workflow ${workflowId}`
  return new ServiceError('DeadlineExceededError', message, { details: { workflowId, runId } })
}

/** `details.runId` is the run that uses the id. */
export function idInUse(details: ErrorFacts, cause?: unknown): ServiceError {
  return new ServiceError('WorkflowAlreadyStartedError', `Workflow id ${details.workflowId} is in use`, {
    cause,
    details,
  })
}

/** The error for a pause in a namespace that does not allow it. */
export function pauseNotEnabled({ workflowId, runId }: RunRef, cause?: Error): ServiceError {
  const message = 'Pausing is not enabled in this namespace of the workflow engine (GET /capabilities: pause)'
  return new ServiceError('NotSupportedError', message, { cause, details: { workflowId, runId } })
}

/** HTTP clients repeat a request by themselves after the statuses of these errors. */
const REPEATED: readonly ErrorName[] = [
  'AuthUnavailableError',
  'CatalogNotAvailableError',
  'DeadlineExceededError',
  'EngineError',
  'EngineUnavailableError',
  'InternalError',
  'OverloadedError',
  'PayloadCodecError',
  'RequestTimeoutError',
  'ResourceExhaustedError',
  'TooManyRequestsError',
]

/** The error for a client that has sent no key. An error that is certain, or that no client repeats, is unchanged. */
export function withoutRepeat(error: unknown): unknown {
  if (!hasErrorName(error, ...REPEATED) || !error.details.mayHaveTakenEffect) return error
  // The cause is the error itself: its level is that of the log line.
  const options = { cause: error, details: error.details }
  if (error.error === 'PayloadCodecError') return new ServiceError('ResultUnreadableError', UNREADABLE, options)
  const isSaid = error.error === 'DeadlineExceededError' || error.message.endsWith(MAY_BE_DONE)
  const message = isSaid ? error.message : `${error.message.replace(/\.$/, '')}, ${MAY_BE_DONE}`
  return new ServiceError('OutcomeUnknownError', message, options)
}

/** The end of the message of an error that may have had an effect. */
export const MAY_BE_DONE = 'and the request may have been carried out. Check the workflow before you send it again.'

const UNREADABLE = 'The request was carried out, but the codec server could not decode the result.'

/** The error that became this one in `withoutRepeat`. */
export function originalError(error: Error | undefined): Error | undefined {
  const isReplaced = hasErrorName(error, 'OutcomeUnknownError', 'ResultUnreadableError')
  return isReplaced && error.cause instanceof Error ? error.cause : error
}
