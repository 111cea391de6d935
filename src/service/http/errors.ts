import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { attachIds } from '../model/attach-ids.ts'
import { type ErrorFacts, type ErrorName, originalError, ServiceError, withoutRepeat } from '../model/errors.ts'
import { type Env, respond, verbOf } from './context.ts'
import { activityResultPath, parameterInPath, requestPath, resultPath, updatePath } from './path.ts'
import { problemHeaders, toProblem } from './problem.ts'

interface ProblemKind {
  status: ContentfulStatusCode
  title: string
  /** What rejected the request; `gateway` when absent. */
  source?: 'workflow' | 'engine'
}

/** In the order of docs/errors.md. */
export const PROBLEMS = {
  ValidationError: { status: 400, title: 'Invalid request' },
  InvalidPageTokenError: { status: 400, title: 'Invalid page token' },
  UnauthorizedError: { status: 401, title: 'Unauthorized' },
  ForbiddenError: { status: 403, title: 'Forbidden' },
  NotFoundError: { status: 404, title: 'Route not found' },
  MethodNotAllowedError: { status: 405, title: 'Method not allowed' },
  WorkflowNotFoundError: { status: 404, title: 'Workflow execution not found', source: 'engine' },
  ScheduleNotFoundError: { status: 404, title: 'Schedule not found', source: 'engine' },
  BatchNotFoundError: { status: 404, title: 'Batch not found', source: 'engine' },
  HandlerNotFoundError: { status: 404, title: 'Handler not found', source: 'workflow' },
  UpdateNotFoundError: { status: 404, title: 'Update not found', source: 'engine' },
  StreamNotFoundError: { status: 404, title: 'Workflow has no stream', source: 'workflow' },
  StepNotFoundError: { status: 404, title: 'Step not found' },
  ActivityNotFoundError: { status: 404, title: 'Activity not found', source: 'engine' },
  QuestionNotFoundError: { status: 404, title: 'Question not found' },
  LinkNotFoundError: { status: 404, title: 'Link not valid' },
  CatalogNotFoundError: { status: 404, title: 'Catalog not found' },
  TraceNotAvailableError: { status: 404, title: 'Trace not available' },
  RequestTimeoutError: { status: 408, title: 'Request timeout' },
  WorkflowAlreadyStartedError: { status: 409, title: 'Workflow already started', source: 'engine' },
  WorkflowNotRunningError: { status: 409, title: 'Workflow not running', source: 'engine' },
  ActivityAlreadyStartedError: { status: 409, title: 'Activity already started', source: 'engine' },
  ActivityNotRunningError: { status: 409, title: 'Activity not running', source: 'engine' },
  WorkflowNotReadyError: { status: 409, title: 'Workflow not ready', source: 'engine' },
  StepNotCompletedError: { status: 409, title: 'Step not completed' },
  QuestionAnsweredError: { status: 409, title: 'Question answered before' },
  LinkUsedError: { status: 409, title: 'Link used before' },
  LinkExpiredError: { status: 410, title: 'Link expired' },
  PreconditionFailedError: { status: 412, title: 'Precondition failed' },
  PayloadTooLargeError: { status: 413, title: 'Payload too large' },
  UnsupportedMediaTypeError: { status: 415, title: 'Unsupported media type' },
  IdempotencyKeyReusedError: { status: 422, title: 'Idempotency key reused' },
  QueryFailedError: { status: 422, title: 'Query failed', source: 'workflow' },
  UpdateFailedError: { status: 422, title: 'Update failed', source: 'workflow' },
  WorkflowFailedError: { status: 422, title: 'Workflow did not complete', source: 'workflow' },
  ActivityFailedError: { status: 422, title: 'Activity did not complete', source: 'workflow' },
  UnsupportedWorkflowError: { status: 424, title: 'Workflow not in the catalog' },
  UnsupportedActivityError: { status: 424, title: 'Activity not in the catalog' },
  WorkflowExecutionTimedOutError: { status: 424, title: 'Workflow did not complete in time' },
  ActivityExecutionTimedOutError: { status: 424, title: 'Activity did not complete in time' },
  ActivityNotCompletedError: { status: 424, title: 'Activity not completed' },
  WorkflowNotCompletedError: { status: 424, title: 'Workflow not completed' },
  OutcomeUnknownError: { status: 424, title: 'Outcome unknown', source: 'engine' },
  ResultUnreadableError: { status: 424, title: 'Result not readable' },
  TooManyRequestsError: { status: 429, title: 'Too many requests of this caller' },
  ResourceExhaustedError: { status: 429, title: 'Workflow engine at its limit', source: 'engine' },
  InternalError: { status: 500, title: 'Internal error' },
  NotSupportedError: { status: 501, title: 'Not supported' },
  EngineError: { status: 502, title: 'Workflow engine error', source: 'engine' },
  PayloadCodecError: { status: 502, title: 'Payload codec error' },
  CatalogNotAvailableError: { status: 503, title: 'Catalog not available' },
  AuthUnavailableError: { status: 503, title: 'Identity provider not available' },
  EngineUnavailableError: { status: 503, title: 'Workflow engine unavailable', source: 'engine' },
  OverloadedError: { status: 503, title: 'Service overloaded' },
  DeadlineExceededError: { status: 504, title: 'Deadline exceeded', source: 'engine' },
} as const satisfies Record<ErrorName, ProblemKind>

/** The response for any error. */
export function problemResponse(c: Context<Env>, thrown: Error): Response {
  const error = toServiceError(c, thrown)
  const body = problemBody(c, error)
  return respond(c, JSON.stringify(body), body.status, { ...problemHeaders(body), ...headersOf(c, error) })
}

/** The response body for an error: with the details of a `ServiceError`, and without any detail of a bug. */
export function problemBody(c: Context<Env>, thrown: unknown) {
  const error = toServiceError(c, thrown)
  c.get('facts').error = error.error
  return toProblemBody(error, c.get('requestId'))
}

export type ProblemBody = ReturnType<typeof problemBody>

export function toProblemBody({ error, message, details }: ServiceError, requestId: string) {
  const kind: ProblemKind = PROBLEMS[error]
  const { source = kind.source, retryAfterSeconds, mayHaveTakenEffect, ...facts } = details
  const { status, title } = kind
  return { ...toProblem({ status, error, title, message, source, requestId }), ...facts }
}

// Statuses of transient errors: a client may reconnect and continue to wait.
const TRANSIENT = new Set([429, 502, 503, 504])

/** Whether the same request may succeed later, so that a reader of events reconnects. */
export function isTransientProblem({ status }: { status: number }): boolean {
  return TRANSIENT.has(status)
}

// The verbs that may not be carried out twice.
const UNSAFE_VERBS: ReadonlySet<string> = new Set([
  'start',
  'signal',
  'update',
  'complete',
  'repair',
  'reset',
  'schedule',
  'activity',
  'batch',
])

/** A bug after an effect must not look like an error that clients repeat. */
function toServiceError(c: Context<Env>, thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const bug = new ServiceError('InternalError', 'Internal error; the server log has the details for this requestId')
  const unsafe = c
    .get('audit')
    .find(({ action = '', runId, batchId }) => UNSAFE_VERBS.has(verbOf(action)) && (runId ?? batchId) !== undefined)
  const { workflowId, activityId, batchId, runId } = unsafe ?? {}
  const known = Object.entries({ workflowId, activityId, batchId, runId }).filter(([, id]) => id !== undefined)
  const mayRepeat = c.req.header('Idempotency-Key') !== undefined || ['GET', 'HEAD'].includes(c.req.method)
  if (mayRepeat || (workflowId ?? activityId ?? batchId) === undefined) return bug
  const error = withoutRepeat(attachIds(bug, Object.fromEntries(known)))
  return error instanceof ServiceError ? error : bug
}

/** The status of the error itself, also if the response has another one because the request must not be repeated. */
export function severityOf(error: Error | undefined, status: number): number {
  const original = originalError(error)
  if (original === undefined) return status
  return original instanceof ServiceError ? PROBLEMS[original.error].status : PROBLEMS.InternalError.status
}

function retryAfter({ retryAfterSeconds }: ErrorFacts): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
}

/**
 * A `run` past its timeout has no Retry-After: the run is awaited at Location. With a key, a `run` that the shutdown of
 * this instance has ended can be repeated at another one.
 */
function resultLocation(c: Context<Env>, details: ErrorFacts): Record<string, string> {
  const { workflowId, activityId } = details
  const path = workflowId === undefined ? activityId && activityResultPath(c, activityId) : resultPath(c, workflowId)
  if (path === undefined) return {}
  return { Location: path, ...(c.get('signal').aborted && retryAfter(details)) }
}

/** Where the result will be: of an update that was accepted, or of the run that a `run` has started. */
function laterLocation(c: Context<Env>, details: ErrorFacts): Record<string, string> {
  const { workflowId, activityId, runId, updateId, stage } = details
  if (activityId !== undefined && c.req.path === '/activity/run') return { Location: activityResultPath(c, activityId) }
  if (workflowId === undefined || runId === undefined) return {}
  if (stage !== undefined && updateId !== undefined)
    return { Location: updatePath(c, { workflowId, runId, updateId }, parameterInPath(c, 'name')) }
  return c.req.path === '/workflow/run' ? { Location: resultPath(c, workflowId) } : {}
}

/** Names the schemes, and says whether a credential was presented: https://www.rfc-editor.org/rfc/rfc6750#section-3 */
function challenge(c: Context<Env>): string {
  const bearer = 'Bearer realm="portico"'
  // Clients of the Model Context Protocol read only the first scheme.
  const schemes = /^\/mcp(?:\/|$)/.test(c.req.path) ? bearer : `Basic realm="portico", charset="UTF-8", ${bearer}`
  const isMissing = (c.get('urlToken') ?? c.req.header('Authorization')) === undefined
  return isMissing ? schemes : `${schemes}, error="invalid_token"`
}

function headersOf(c: Context<Env>, { error, details }: ServiceError): Record<string, string> {
  switch (error) {
    case 'UnauthorizedError':
      return { 'WWW-Authenticate': challenge(c) }
    case 'RequestTimeoutError':
      return { Connection: 'close' }
    case 'ActivityExecutionTimedOutError':
    case 'WorkflowExecutionTimedOutError':
      return c.req.method === 'POST' ? resultLocation(c, details) : { Location: requestPath(c), ...retryAfter(details) }
    case 'OutcomeUnknownError':
    case 'ResultUnreadableError':
      return laterLocation(c, details)
    default:
      return retryAfter(details)
  }
}
