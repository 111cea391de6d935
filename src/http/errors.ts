import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type ErrorName, ServiceError } from '../domain/errors.ts'
import type { Env } from './context.ts'
import { resultPath } from './path.ts'
import { PROBLEM_TYPE, toProblem } from './problem.ts'

interface Face {
  status: ContentfulStatusCode
  title: string
  /** Who refused; `gateway` when absent. */
  source?: 'workflow' | 'engine'
}

const FACES = {
  ValidationError: { status: 400, title: 'The request is not valid' },
  UnauthorizedError: { status: 401, title: 'No valid token' },
  ForbiddenError: { status: 403, title: 'Not allowed' },
  NotFoundError: { status: 404, title: 'No such route' },
  MethodNotAllowedError: { status: 405, title: 'The route does not have this method' },
  WorkflowNotFoundError: { status: 404, title: 'No such workflow execution', source: 'engine' },
  HandlerNotFoundError: { status: 404, title: 'The workflow has no such handler', source: 'workflow' },
  CatalogNotFoundError: { status: 404, title: 'No such catalog' },
  TraceNotAvailableError: { status: 404, title: 'No trace' },
  WorkflowExecutionTimedOutError: { status: 408, title: 'The workflow did not complete in time' },
  RequestTimeoutError: { status: 408, title: 'The request did not arrive in time' },
  WorkflowAlreadyStartedError: { status: 409, title: 'The workflow id is in use', source: 'engine' },
  WorkflowNotRunningError: { status: 409, title: 'The workflow is closed', source: 'engine' },
  WorkflowNotReadyError: { status: 409, title: 'The workflow cannot answer now', source: 'engine' },
  PayloadTooLargeError: { status: 413, title: 'Too large' },
  UnsupportedMediaTypeError: { status: 415, title: 'The body is not JSON' },
  QueryFailedError: { status: 422, title: 'The query failed', source: 'workflow' },
  UpdateFailedError: { status: 422, title: 'The update failed', source: 'workflow' },
  UnsupportedWorkflowError: { status: 424, title: 'The catalog has no such workflow' },
  WorkflowNotCompletedError: { status: 424, title: 'The workflow has no result yet' },
  ResourceExhaustedError: { status: 429, title: 'The engine is at its limit', source: 'engine' },
  InternalError: { status: 500, title: 'Internal error' },
  NotSupportedError: { status: 501, title: 'Not supported' },
  EngineError: { status: 502, title: 'The engine failed the request', source: 'engine' },
  PayloadCodecError: { status: 502, title: 'The payload codec failed' },
  CatalogNotAvailableError: { status: 503, title: 'Nothing serves the catalog' },
  EngineUnavailableError: { status: 503, title: 'The engine is unreachable', source: 'engine' },
  DeadlineExceededError: { status: 504, title: 'No answer in time', source: 'engine' },
} as const satisfies Record<ErrorName, Face>

/** The answer to any error. */
export function problem(c: Context<Env>, thrown: Error): Response {
  const error = toServiceError(thrown)
  const body = problemBody(c, error)
  return c.body(JSON.stringify(body), body.status, { 'Content-Type': PROBLEM_TYPE, ...headersOf(c, error) })
}

/** What is told of an error: of an expected one its facts, of a bug nothing. */
export function problemBody(c: Context<Env>, thrown: unknown) {
  const error = toServiceError(thrown)
  const face: Face = FACES[error.error]
  const { source = face.source, retryAfterSeconds, ...facts } = error.details
  c.var.facts.error = error.error
  const { status, title } = face
  const { requestId } = c.var
  return { ...toProblem({ status, error: error.error, title, message: error.message, source, requestId }), ...facts }
}

function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  return new ServiceError('InternalError', 'Something went wrong here; the log has it under this requestId')
}

function headersOf(c: Context<Env>, { error, details }: ServiceError): Record<string, string> {
  switch (error) {
    case 'UnauthorizedError':
      return { 'WWW-Authenticate': 'Basic realm="portico", charset="UTF-8"' }
    case 'RequestTimeoutError':
      return { Connection: 'close' }
    // No Retry-After: to send the run again would start another.
    case 'WorkflowExecutionTimedOutError':
      return details.workflowId === undefined ? {} : { Location: resultPath(c, details.workflowId) }
    default:
      return details.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(details.retryAfterSeconds) }
  }
}
