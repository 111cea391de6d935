/** Translates errors of the engine. Its messages help to find out what an error means; clients do not get them. */
import type { temporal } from '@temporalio/proto'
import { ResourceExhaustedCause } from '../../shared/temporal/enums.ts'
import type { Failure } from '../../shared/temporal/failure.ts'
import { GrpcCode } from '../../shared/temporal/grpc-code.ts'
import { attachIds } from '../model/attach-ids.ts'
import { type ErrorFacts, idInUse, MAY_BE_DONE, notFoundMessage, ServiceError } from '../model/errors.ts'
import { type ErrorDetail, RpcError } from './transport/transport.ts'

type Failures = typeof temporal.api.errordetails.v1

/** The facts about a request that decide what an error of the engine means. */
export interface RequestFacts {
  /** A `read` can always be retried, a `write` only if it was never sent. */
  kind: 'read' | 'write'
  /** Such as `query "state"`, if the engine responds only after a worker has. A timeout then means that none did. */
  workerRequest?: string
  /** Part of every error about the request. */
  details: ErrorFacts
}

/**
 * The error to throw. Anything but an `RpcError` is a bug, or translated already, and is returned unchanged; a bug in a
 * `write` may follow its effect.
 */
export function toServiceError(error: unknown, request: RequestFacts): unknown {
  if (!(error instanceof RpcError))
    return error instanceof ServiceError || request.kind === 'read' ? error : attachIds(error, request.details)
  switch (error.code) {
    case GrpcCode.UNAVAILABLE:
      return unavailable(error, request)
    case GrpcCode.DEADLINE_EXCEEDED:
    case GrpcCode.CANCELLED: // our own signal aborted: the client disconnected, or the service is shutting down
      return request.workerRequest ? noWorkerResponded(error, request) : unavailable(error, request)
    case GrpcCode.NOT_FOUND:
      return hasDetail(error, 'NotFoundFailure') ? notFound(error, request) : unexpected(error, request)
    case GrpcCode.ALREADY_EXISTS:
      return alreadyStarted(error, request)
    case GrpcCode.RESOURCE_EXHAUSTED:
      return exhausted(error, request)
    case GrpcCode.FAILED_PRECONDITION:
      return notReady(error, request)
    case GrpcCode.INVALID_ARGUMENT:
      return isTooLarge(error) ? tooLarge(error, request) : unexpected(error, request)
    case GrpcCode.UNIMPLEMENTED:
      return wrap('NotSupportedError', 'The workflow engine does not support this request.', error, request)
    default:
      return unexpected(error, request)
  }
}

/** For a call with several operations: the error of the one that failed, not of those aborted because of it. */
export function unwrapMultiOperationError(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error
  const { fields = {} } = error.details.find(({ name }) => name === 'MultiOperationExecutionFailure') ?? {}
  const statuses = 'statuses' in fields ? (fields.statuses as OperationStatus[]) : []
  const failed = statuses.find((status) => !isDone(status) && !isAbortedForAnother(status))
  if (failed === undefined) return error
  const { code = error.code, message = '', details = [] } = failed
  return new RpcError(message, {
    code,
    details,
    mayHaveBeenSent: error.mayHaveBeenSent,
    mayHaveTakenEffect: error.mayHaveTakenEffect || statuses.some(isDone),
    cause: error,
  })
}

/** A decoded message, so every field may be missing. */
interface OperationStatus {
  code?: number
  message?: string
  details?: readonly ErrorDetail[]
}

function isDone({ code = 0 }: OperationStatus): boolean {
  return code === 0
}

function isAbortedForAnother({ details = [] }: OperationStatus): boolean {
  return details.some(({ name }) => name === 'MultiOperationExecutionAborted')
}

/**
 * Whether the run is unknown or closed: describe it to find out which. The engine returns the same error for both. A
 * run that exceeds a limit of its history is closed by the engine.
 */
export function isGoneOrClosed(error: unknown): error is RpcError {
  if (!(error instanceof RpcError)) return false
  if (error.code === GrpcCode.INVALID_ARGUMENT)
    return /^Workflow (?:history count|history size|mutable state size) exceeds limit/.test(error.message)
  return error.code === GrpcCode.NOT_FOUND && hasDetail(error, 'NotFoundFailure')
}

export function isQueryFailure(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT && hasDetail(error, 'QueryFailedFailure')
}

/** Some SDKs send the failure of the query handler; of the others only the message is known. */
export function queryFailure({ details, message }: RpcError): Failure {
  const { fields = {} } = details.find(({ name }) => name === 'QueryFailedFailure') ?? {}
  const failure = 'failure' in fields ? (fields.failure as Failure | null) : null
  return failure?.message || failure?.encodedAttributes ? failure : { message }
}

const RETRYABLE: ReadonlySet<number> = new Set([
  GrpcCode.UNAVAILABLE,
  GrpcCode.UNKNOWN,
  GrpcCode.ABORTED,
  GrpcCode.OUT_OF_RANGE,
  GrpcCode.DATA_LOSS,
])

/** Whether a retry may succeed at once: the connection failed with a code that Temporal's own clients retry. */
export function isRetryable({ code, message }: RpcError): boolean {
  return (
    RETRYABLE.has(code) ||
    (code === GrpcCode.INTERNAL && /RST_STREAM with code [02]\b|without gRPC status/.test(message))
  )
}

/** Whether the same call may succeed later: the engine is unreachable, overloaded or slow. */
export function isTransient(error: RpcError): boolean {
  return (
    isRetryable(error) ||
    error.code === GrpcCode.DEADLINE_EXCEEDED ||
    (error.code === GrpcCode.RESOURCE_EXHAUSTED && !isTooLarge(error))
  )
}

export function hasDetail(error: RpcError, name: keyof Failures): boolean {
  return detailOf(error, name) !== null
}

/** The decoded detail of that type, in which every field may be missing; null if the error has none. */
export function detailOf<Name extends keyof Failures>(
  { details }: RpcError,
  name: Name,
): Partial<Failures[Name]['prototype']> | null {
  return details.find((detail) => detail.name === name)?.fields ?? null
}

/** Whether a limit of one run was exceeded, not one of the engine. */
export function isBusyWorkflow(error: RpcError): boolean {
  const isBusy = detailOf(error, 'ResourceExhaustedFailure')?.cause === ResourceExhaustedCause.BUSY_WORKFLOW
  // The engine reports this limit of one run with the same cause and scope as its own limit on long polls.
  return isBusy || error.message.startsWith('limit on number of concurrent in-flight updates')
}

function unavailable(error: RpcError, request: RequestFacts): ServiceError {
  const message = 'The workflow engine is not responding'
  if (request.kind === 'write' && error.mayHaveBeenSent)
    return wrap('EngineUnavailableError', `${message}, ${MAY_BE_DONE}`, error, request, { mayHaveTakenEffect: true })
  return wrap('EngineUnavailableError', `${message}.`, error, request, { retryAfterSeconds: 1 })
}

function noWorkerResponded(error: RpcError, request: RequestFacts): ServiceError {
  const isOpen = request.kind === 'write' && error.mayHaveBeenSent
  const { workflowId } = request.details
  const message = `No worker responded in time to ${request.workerRequest} of workflow ${workflowId}${isOpen ? ', which may still execute it' : ''}`
  return wrap('DeadlineExceededError', message, error, request, isOpen ? { mayHaveTakenEffect: true } : {})
}

function notFound(error: RpcError, request: RequestFacts): ServiceError {
  return wrap('WorkflowNotFoundError', notFoundMessage(request.details), error, request)
}

function alreadyStarted(error: RpcError, request: RequestFacts): ServiceError {
  const { runId } = detailOf(error, 'WorkflowExecutionAlreadyStartedFailure') ?? {}
  return idInUse({ ...request.details, ...(runId && { runId }) }, error)
}

function notReady(error: RpcError, request: RequestFacts): ServiceError {
  const { workflowId } = request.details
  if (error.message.startsWith('Workflow is paused')) {
    return wrap(
      'WorkflowNotReadyError',
      `Workflow ${workflowId} cannot accept updates; its status is paused`,
      error,
      request,
      {
        workflowStatus: 'paused',
      },
    )
  }
  if (error.message.startsWith('no poller seen for task queue')) return unpolled(error, request)
  if (!hasDetail(error, 'WorkflowNotReadyFailure')) return unexpected(error, request)
  const why = 'its workflow task is failing or has not started, or the run closed before its first workflow task'
  return wrap('WorkflowNotReadyError', `${notReadyMessage(workflowId)}: ${why}`, error, request)
}

/** The start of the message of a `WorkflowNotReadyError`; the reason follows. */
export function notReadyMessage(workflowId: string | undefined): string {
  return `Workflow ${workflowId} cannot accept this request now`
}

/** The engine ends a query before its deadline if no worker polls the task queue. The error has no details. */
function unpolled(error: RpcError, request: RequestFacts): ServiceError {
  const { workflowId } = request.details
  const message = `No worker responded for workflow ${workflowId}: no worker has polled its task queue recently`
  return wrap('DeadlineExceededError', message, error, request)
}

function exhausted(error: RpcError, request: RequestFacts): ServiceError {
  if (isTooLarge(error)) return tooLarge(error, request)
  // The response exceeds grpc-js's own size limit: the client can do nothing about it.
  if (error.details.length === 0) return unexpected(error, request)
  const { workflowId } = request.details
  const message =
    isBusyWorkflow(error) && workflowId !== undefined
      ? `Workflow ${workflowId} has reached a limit on concurrent updates or queries of one run`
      : 'The workflow engine has reached its rate or concurrency limit'
  // The rejected attempt had no effect, but an earlier one may have.
  const isRetrySafe = request.kind === 'read' || !error.mayHaveTakenEffect
  return wrap(
    'ResourceExhaustedError',
    isRetrySafe ? `${message}.` : `${message}, ${MAY_BE_DONE}`,
    error,
    request,
    isRetrySafe ? { retryAfterSeconds: 1 } : { mayHaveTakenEffect: true },
  )
}

const TOO_LARGE_MESSAGES = [
  'Blob data size exceeds limit', // one payload
  'Memo size exceeds limit',
  'input exceeds length limit', // of a standalone activity
  'grpc: received message larger than max', // the whole request
  'http: request body too large', // the whole request, over HTTP
  'Received HTTP status code 413', // from a proxy in front of the engine
]

/** Whether a limit on the size of the request was exceeded. */
export function isTooLarge({ message }: RpcError): boolean {
  return TOO_LARGE_MESSAGES.some((start) => message.startsWith(start))
}

function tooLarge(error: RpcError, request: RequestFacts): ServiceError {
  return wrap('PayloadTooLargeError', 'The payload exceeds the size limit of the workflow engine.', error, request, {
    source: 'engine',
  })
}

/** The log gets the engine's message and the variable to check. */
function unexpected(error: RpcError, request: RequestFacts): ServiceError {
  const cause = new Error(`${advice(error)}: gRPC code ${error.code}, ${error.message}`, { cause: error })
  const message = isMisconfigured(error)
    ? 'The workflow engine rejected the configuration of this service; the log names the setting to check.'
    : 'Unexpected response from the workflow engine.'
  const isOpen = error.mayHaveTakenEffect || isRetryable(error) || error.code === GrpcCode.INTERNAL
  return wrap(
    'EngineError',
    message,
    cause,
    request,
    request.kind === 'write' && isOpen ? { mayHaveTakenEffect: true } : {},
  )
}

/** Whether the engine rejects the namespace or the API key: every request fails until the configuration is changed. */
export function isMisconfigured(error: RpcError): boolean {
  return hasDetail(error, 'NamespaceNotFoundFailure') || isKeyRejected(error)
}

function isKeyRejected({ code }: RpcError): boolean {
  return code === GrpcCode.UNAUTHENTICATED || code === GrpcCode.PERMISSION_DENIED
}

function advice(error: RpcError): string {
  if (hasDetail(error, 'NamespaceNotFoundFailure'))
    return 'the namespace does not exist on the engine, check ENGINE_NAMESPACE and ENGINE_NAMESPACES'
  if (isKeyRejected(error)) return 'the engine rejected the API key, check ENGINE_API_KEY'
  return 'unexpected response from the engine'
}

function wrap(
  name: ServiceError['error'],
  message: string,
  cause: Error,
  request: RequestFacts,
  details: ErrorFacts = {},
): ServiceError {
  return new ServiceError(name, message, { cause, details: { ...request.details, ...details } })
}
