/** Observes requests: their log lines, metrics and spans, and what the audit log records of their callers. */

import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import { AUDIT, type Log, type LogLevel, withoutStack } from '../../../log.ts'
import type { Access } from '../../../shared/access/grant.ts'
import { isAbortedByService } from '../../model/call.ts'
import { hasErrorName, originalError, RESOURCE_IDS, ServiceError } from '../../model/errors.ts'
import { decided, type Env, isDenied, type RequestStep, verbOf, whenResponded, whenSent } from '../context.ts'
import { problemBody, severityOf } from '../errors.ts'

// nginx's status for a client that disconnected before the response.
const CLIENT_CLOSED_REQUEST = 499

/** Counts requests. */
export interface RequestMetrics {
  requestStarted(method: string): void
  /** Called when the response is complete. `route` is the pattern of the route, null when none matched. */
  requestEnded(request: { method: string; route: string | null; status: number; ms: number }): void
  /** Changes the number of requests that count towards the limit on requests in flight. */
  inFlightChanged(by: 1 | -1): void
  /** Changes the number of requests that wait until they may be in flight. */
  queuedChanged(by: 1 | -1): void
  /** Counts a request that the policy does not allow. `verb` is one of the policy, never the name of a handler. */
  callerDenied(verb: string, rule: string): void
  /** Counts an event that its hook does not want. */
  eventIgnored(hook: string): void
  /** Counts a request beyond the limits of the rule. */
  callerLimited(rule: string): void
}

/** Records spans of requests. */
export interface RequestTracer {
  /** Null if no tracer is installed. */
  startRequest(request: Request): RequestSpan | null | Promise<RequestSpan | null>
}

export interface RequestSpan {
  /** Null if the span is not a part of a trace. */
  traceId: string | null
  /** The headers that continue the trace of the span. */
  contextHeaders(): Record<string, string>
  /** Calls `act`. Everything that it calls belongs to the span. */
  run<T>(act: () => T): T
  /** Called when the response is complete. `error` is the name of the error response. */
  end(response: {
    method: string
    route: string | null
    status: number
    error: string | undefined
    isServerError: boolean
  }): void
}

export interface Observers {
  log: Log
  /** Whether a path is that of probes or scrapes, which would fill the log. */
  isPeriodic?: (path: string) => boolean
  metrics?: RequestMetrics | null
  tracer?: RequestTracer | null
}

/**
 * Logs one line for the request, without its query string, body or token. Counts and traces it.
 * Returns the function to call when the response is ready.
 */
export function observe(c: Context<Env>, observers: Observers, span: RequestSpan | null): () => void {
  const { log, metrics = null, isPeriodic } = observers
  const startedAt = performance.now() - (c.env?.place?.waitedMs ?? 0)
  const { method } = c.req
  metrics?.requestStarted(method)
  const traceId = span === null ? traceIdOf(c.req.header('traceparent')) : span.traceId
  const tracedLog = traceId === null ? log : withFields(log, { traceId })
  c.set('log', tracedLog)
  c.set('traceContext', () => (span?.traceId ? span.contextHeaders() : traceContextOf(c.req.raw.headers)))

  function end(): void {
    const status = statusOf(c)
    const error = errorOf(c, status)
    if (error === undefined) c.set('facts', withoutError(c.get('facts')))
    const route = routePattern(c)
    const ms = performance.now() - startedAt
    metrics?.requestEnded({ method, route, status, ms })
    const { hook, ignored } = c.get('facts')
    if (ignored === true) metrics?.eventIgnored(String(hook))
    span?.end({ method, route, status, error, isServerError: status >= 500 })
    const severity = status === CLIENT_CLOSED_REQUEST ? status : severityOf(c.error, status)
    tracedLog(levelOf(severity, isPeriodic?.(c.req.path) === true), 'request', {
      requestId: c.get('requestId'),
      method,
      route,
      status,
      ms: Math.round(ms),
      ...runOf(c),
      ...(c.get('caller') && { caller: c.get('caller')?.id }),
      reason: reasonOf(c, error, status),
      ...withoutStacks(c.get('facts')),
      ...(concernsOperator(c.error, severity) && { cause: causeOf(originalError(c.error)) }),
    })
  }

  return () => whenSent(c, end)
}

/** The run that the request is about, or the one that it has started. */
function runOf(c: Context<Env>): Record<'runId' | 'workflowId' | 'workflowName', string | undefined> {
  const { workflowId, runId, workflowName } = c.get('audit').findLast((one) => one.workflowId !== undefined) ?? {}
  const ofError = c.error instanceof ServiceError ? c.error.details : {}
  const read = c.get('run') ?? {}
  const id = ofError.workflowId ?? workflowId ?? read.workflowId
  const { runId: readId, workflowName: readName } = read.workflowId === id ? read : {}
  return { workflowId: id, runId: ofError.runId ?? runId ?? readId, workflowName: workflowName ?? readName }
}

/**
 * Why the request failed: what the error says for the log alone, what is not valid, without the value, or for any other
 * error of the client its name.
 */
function reasonOf({ error: thrown }: Context<Env>, error: string | undefined, status: number): string | undefined {
  const { reason, details = {} }: Partial<ServiceError> = thrown instanceof ServiceError ? thrown : {}
  const [first] = details.issues ?? []
  return reason ?? (first && `${first.path || 'the body'} is not valid`) ?? (status < 500 ? error : undefined)
}

function withoutError({ error: _, ...facts }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return facts
}

function withFields(log: Log, more: Readonly<Record<string, unknown>>): Log {
  return (level, message, fields) => log(level, message, { ...fields, ...more })
}

/**
 * The name of the error that the response reports. None if the client has disconnected: the error that ends its request
 * is not sent.
 */
export function errorOf(c: Context<Env>, status: number): string | undefined {
  const { error } = c.get('facts')
  return typeof error === 'string' && status !== CLIENT_CLOSED_REQUEST ? error : undefined
}

/**
 * 499 if the client disconnected. For an error that an event stream or a JSON-RPC message reports, the status of that
 * error.
 */
export function statusOf(c: Context<Env>): number {
  const signal: AbortSignal | undefined = c.get('signal')
  if (signal?.aborted && !isAbortedByService(signal)) return CLIENT_CLOSED_REQUEST
  return c.error === undefined ? c.res.status : problemBody(c, c.error).status
}

function levelOf(status: number, isPeriodic: boolean): LogLevel {
  // 500 is a bug, 502 an engine that needs attention.
  if (status === 500 || status === 502) return 'error'
  if (status > 500) return 'warn'
  return isPeriodic ? 'debug' : 'info'
}

/** Null when no route matched. If several match, the first one handles the request. */
function routePattern(c: Context<Env>): string | null {
  return matchedRoutes(c)[0]?.path ?? null
}

/** Whether the cause is logged. The cause of a client error is not: it may quote the body. */
function concernsOperator(error: Error | undefined, status: number): boolean {
  return status >= 500 || hasErrorName(error, 'WorkflowNotReadyError')
}

function withoutStacks(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, fact instanceof Error ? withoutStack(fact) : fact]),
  )
}

/** A bug itself, or the cause of a `ServiceError`. */
function causeOf(error: Error | undefined): unknown {
  if (!(error instanceof ServiceError)) return error
  const { cause = error.message } = error
  return cause instanceof Error && error.error !== 'InternalError' ? withoutStack(cause) : cause
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:$|-)/

/** The trace that the client's `traceparent` names: https://www.w3.org/TR/trace-context/. Null without a valid one. */
export function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null)
}

/** The trace context of the request, as headers; undefined without a valid `traceparent`. */
function traceContextOf(headers: Headers): Readonly<Record<string, string>> | undefined {
  const traceparent = headers.get('traceparent')
  if (traceparent === null || traceIdOf(traceparent) === null) return undefined
  const tracestate = headers.get('tracestate')
  return { traceparent, ...(tracestate && { tracestate }) }
}

const LOGGED_FACTS = [
  ...(['workflowId', 'runId', 'workflowName', 'activityId'] as const),
  ...RESOURCE_IDS,
  ...(['operation', 'matching'] as const),
]

/** Which requests are recorded: none, changes and denials, or all. */
export type AuditMode = 'off' | 'effects' | 'all'

export interface AuditOptions {
  mode: AuditMode
  /** The namespace of all requests; null for those to namespaces that do not exist. */
  namespace: string | null
  observers: Pick<Observers, 'log' | 'metrics'>
}

/**
 * Logs a line for each change and each denial when the response is complete: what the request did, and which rule
 * allowed it. A request that was rejected before anything was decided has no line.
 */
export function audit({ mode, namespace, observers }: AuditOptions, access: Access | null): RequestStep {
  const { log, metrics = null } = observers

  function record(c: Context<Env>): void {
    const isReadOnly = c.req.method === 'GET' || c.req.method === 'HEAD'
    for (const decision of decided(c.get('audit'), isReadOnly)) recordOne(c, decision)
  }

  function recordOne(c: Context<Env>, { isEffect, ...decision }: ReturnType<typeof decided>[number]): void {
    const { action, rule = null, namespace: ofRun = namespace } = decision
    if (rule !== null && isDenied(decision)) metrics?.callerDenied(verbOf(action ?? ''), rule)
    if (mode === 'off' || (mode === 'effects' && !isEffect)) return
    const status = statusOf(c)
    log('info', AUDIT, {
      ...{ requestId: c.get('requestId'), caller: c.get('caller')?.id ?? null, rule, action, namespace: ofRun },
      ...Object.fromEntries(LOGGED_FACTS.map((name) => [name, decision[name]])),
      ...{ status, error: errorOf(c, status) },
    })
  }

  return (c) => {
    // The verbs decide about all others.
    if (access === 'any' || access === 'metrics') c.get('audit').push({ action: access })
    // An operator is never denied anything.
    if (mode === 'off' && c.get('caller')?.kind !== 'granted') return
    whenResponded(c, () => whenSent(c, () => record(c)))
  }
}
