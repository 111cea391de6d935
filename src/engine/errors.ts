/** The engine's refusals in our words. The texts are those measured on the real engine; no text of its leaves here. */
import type { temporal } from '@temporalio/proto'
import { type ErrorFacts, ServiceError } from '../domain/errors.ts'
import { ResourceExhaustedCause } from '../temporal/enums.ts'
import { GrpcCode } from '../temporal/grpc-code.ts'
import { type ErrorDetail, RpcError } from './transport/transport.ts'

type Failures = typeof temporal.api.errordetails.v1

/** What was asked, as far as it decides what a refusal means. */
export interface Asked {
  /** A `read` may be asked again whatever became of it, a `write` only when it was never sent. */
  kind: 'read' | 'write'
  /** Whether the engine answers only when a worker has: then silence is the worker's. */
  waitsForWorker?: boolean
  /** What every answer about it carries. */
  facts: ErrorFacts
}

/** The error to throw for `error`; what is no answer of the engine's passes through as the bug it is. */
export function toServiceError(error: unknown, asked: Asked): unknown {
  if (!(error instanceof RpcError)) return error
  switch (error.code) {
    case GrpcCode.UNAVAILABLE:
      return unavailable(error, asked)
    case GrpcCode.DEADLINE_EXCEEDED:
    case GrpcCode.CANCELLED: // we gave it up, as a server does that has to end
      return asked.waitsForWorker ? unanswered(error, asked) : unavailable(error, asked)
    case GrpcCode.NOT_FOUND:
      return hasDetail(error, 'NotFoundFailure') ? notFound(error, asked) : unexpected(error, asked)
    case GrpcCode.ALREADY_EXISTS:
      return alreadyStarted(error, asked)
    case GrpcCode.RESOURCE_EXHAUSTED:
      return exhausted(error, asked)
    case GrpcCode.FAILED_PRECONDITION:
      return notReady(error, asked)
    case GrpcCode.INVALID_ARGUMENT:
      return isTooLarge(error) ? tooLarge(error, asked) : unexpected(error, asked)
    case GrpcCode.UNIMPLEMENTED:
      return wrap('NotSupportedError', 'The engine does not support this.', error, asked)
    default:
      return unexpected(error, asked)
  }
}

/** Of a call that is several operations: the refusal of the one that is to blame. */
export function unwrapMultiOperationError(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error
  const { fields = {} } = error.details.find(({ name }) => name === 'MultiOperationExecutionFailure') ?? {}
  const statuses = 'statuses' in fields ? (fields.statuses as OperationStatus[]) : []
  const refused = statuses.find((status) => !isDone(status) && !isAbortedForAnother(status))
  if (refused === undefined) return error
  const { code = error.code, message = '', details = [] } = refused
  return new RpcError(message, {
    code,
    details,
    mayHaveBeenSent: error.mayHaveBeenSent,
    mayHaveTakenEffect: error.mayHaveTakenEffect || statuses.some(isDone),
    cause: error,
  })
}

/** As the engine said it: each field may be missing. Its details are decoded like those of the whole. */
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

/** An unknown execution and a closed one are the same answer, and one that grows too large is closed for it: only a look at the run tells which. */
export function isGoneOrClosed(error: unknown): error is RpcError {
  if (!(error instanceof RpcError)) return false
  if (error.code === GrpcCode.INVALID_ARGUMENT)
    return /^Workflow (?:history count|history size|mutable state size) exceeds limit/.test(error.message)
  return error.code === GrpcCode.NOT_FOUND && hasDetail(error, 'NotFoundFailure')
}

export function isQueryFailure(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT && hasDetail(error, 'QueryFailedFailure')
}

const RETRYABLE: ReadonlySet<number> = new Set([
  GrpcCode.UNAVAILABLE,
  GrpcCode.UNKNOWN,
  GrpcCode.ABORTED,
  GrpcCode.OUT_OF_RANGE,
  GrpcCode.DATA_LOSS,
])

/** What the way to the engine answers for a moment, as Temporal's own clients judge it: the same call may well succeed at once. */
export function isRetryable({ code, message }: RpcError): boolean {
  return (
    RETRYABLE.has(code) ||
    (code === GrpcCode.INTERNAL && /RST_STREAM with code [02]\b|without gRPC status/.test(message))
  )
}

/** Out of reach, too busy, or too slow: the same call may well succeed later. */
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

/** As the engine said it: each field may be missing. */
function detailOf<Name extends keyof Failures>(
  { details }: RpcError,
  name: Name,
): Partial<Failures[Name]['prototype']> | null {
  return details.find((detail) => detail.name === name)?.fields ?? null
}

function unavailable(error: RpcError, asked: Asked): ServiceError {
  const message = 'The workflow engine does not answer'
  if (asked.kind === 'write' && error.mayHaveBeenSent)
    return wrap('EngineUnavailableError', `${message}, ${MAY_BE_DONE}`, error, asked)
  return wrap('EngineUnavailableError', `${message}.`, error, asked, { retryAfterSeconds: 1 })
}

/** The end of a message without `Retry-After`. */
export const MAY_BE_DONE = 'and the request may have been carried out. Check the workflow before you send it again.'

function unanswered(error: RpcError, asked: Asked): ServiceError {
  return wrap(
    'DeadlineExceededError',
    `No worker answered for workflow ${asked.facts.workflowId} in time`,
    error,
    asked,
  )
}

function notFound(error: RpcError, asked: Asked): ServiceError {
  const { workflowId, runId } = asked.facts
  const run = runId === undefined ? '' : ` has no run ${runId}`
  return wrap(
    'WorkflowNotFoundError',
    run === '' ? `Workflow ${workflowId} not found` : `Workflow ${workflowId}${run}`,
    error,
    asked,
  )
}

function alreadyStarted(error: RpcError, asked: Asked): ServiceError {
  const { runId } = detailOf(error, 'WorkflowExecutionAlreadyStartedFailure') ?? {}
  return idInUse({ ...asked.facts, ...(runId && { runId }) }, error)
}

/** `runId` in the facts is the run that uses the id. */
export function idInUse(facts: ErrorFacts, cause: RpcError): ServiceError {
  return new ServiceError('WorkflowAlreadyStartedError', `Workflow id ${facts.workflowId} is in use`, {
    cause,
    details: facts,
  })
}

function notReady(error: RpcError, asked: Asked): ServiceError {
  const { workflowId } = asked.facts
  if (error.message.startsWith('Workflow is paused')) {
    return wrap('WorkflowNotReadyError', `Workflow ${workflowId} takes no updates: it is paused`, error, asked, {
      workflowStatus: 'paused',
    })
  }
  if (error.message.startsWith('no poller seen for task queue')) return unpolled(error, asked)
  if (!hasDetail(error, 'WorkflowNotReadyFailure')) return unexpected(error, asked)
  const why = 'its workflow task is failing, has not begun, or never did before it closed'
  return wrap('WorkflowNotReadyError', `Workflow ${workflowId} can't take this now: ${why}`, error, asked)
}

/** The engine gives a query up before its deadline when no worker polls; it has no details for that. */
function unpolled(error: RpcError, asked: Asked): ServiceError {
  const { workflowId } = asked.facts
  const message = `No worker answered for workflow ${workflowId}: none has polled its task queue recently`
  return wrap('DeadlineExceededError', message, error, asked)
}

function exhausted(error: RpcError, asked: Asked): ServiceError {
  if (isTooLarge(error)) return tooLarge(error, asked)
  // grpc-js's own limit on what it receives: nothing a caller could do about.
  if (error.details.length === 0) return unexpected(error, asked)
  const { cause } = detailOf(error, 'ResourceExhaustedFailure') ?? {}
  const what =
    cause === ResourceExhaustedCause.BUSY_WORKFLOW ? 'The workflow is busy.' : 'The workflow engine is at its limit.'
  return wrap(
    'ResourceExhaustedError',
    what,
    error,
    asked,
    isSafeToRepeat(error, asked) ? { retryAfterSeconds: 1 } : {},
  )
}

/** A refusal itself does nothing; a try before it may have. */
function isSafeToRepeat(error: RpcError, asked: Asked): boolean {
  return asked.kind === 'read' || !error.mayHaveTakenEffect
}

/** Five shapes: of a payload, of a memo, of the whole message over gRPC and over HTTP, and to a proxy on the way. */
function isTooLarge(error: RpcError): boolean {
  return /^(Blob data size exceeds limit|Memo size exceeds limit|grpc: received message larger than max|http: request body too large|Received HTTP status code 413)/.test(
    error.message,
  )
}

function tooLarge(error: RpcError, asked: Asked): ServiceError {
  return wrap('PayloadTooLargeError', 'The payload is larger than the workflow engine takes.', error, asked, {
    source: 'engine',
  })
}

/** The variable an operator should look at; the text of the engine goes to the log alone. */
function unexpected(error: RpcError, asked: Asked): ServiceError {
  const cause = new Error(`${advice(error)}: gRPC code ${error.code}, ${error.message}`, { cause: error })
  const message = isMisconfigured(error)
    ? 'The workflow engine refuses this service because of its configuration; the log of the service names the setting.'
    : 'The workflow engine gave an answer that this service did not expect.'
  return wrap('EngineError', message, cause, asked)
}

/** The engine does not know the namespace, or refuses the key: no request can succeed before the configuration is changed. */
export function isMisconfigured(error: RpcError): boolean {
  return hasDetail(error, 'NamespaceNotFoundFailure') || isRefusedKey(error)
}

function isRefusedKey({ code }: RpcError): boolean {
  return code === GrpcCode.UNAUTHENTICATED || code === GrpcCode.PERMISSION_DENIED
}

function advice(error: RpcError): string {
  if (hasDetail(error, 'NamespaceNotFoundFailure'))
    return 'the engine does not know the namespace, look at ENGINE_NAMESPACE'
  if (isRefusedKey(error)) return 'the engine refused the key, look at ENGINE_API_KEY'
  return 'unforeseen answer of the engine'
}

function wrap(
  name: ServiceError['error'],
  message: string,
  cause: Error,
  asked: Asked,
  facts: ErrorFacts = {},
): ServiceError {
  return new ServiceError(name, message, { cause, details: { ...asked.facts, ...facts } })
}
