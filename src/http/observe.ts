import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { ServiceError } from '../domain/errors.ts'
import { type Log, type LogLevel, withoutStack } from '../log.ts'
import { type Env, whenSent } from './context.ts'
import { problemBody } from './errors.ts'

// Web servers' word for a client that left before its answer.
const CLIENT_GONE = 499

/** One event a request. Never the query string, a body or a token. */
export function observe(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedAt = performance.now()
    c.set('log', log)
    await next()
    whenSent(c, () => {
      const status = statusOf(c)
      log(levelOf(c, status), 'request', {
        requestId: c.var.requestId,
        method: c.req.method,
        route: routePattern(c),
        status,
        ms: Math.round(performance.now() - startedAt),
        ...toldOf(c.var.facts),
        ...(isOperators(c.error, status) && { cause: causeOf(c.error) }),
      })
    })
  }
}

/** Of what began as 200 and was told an error among its events, that error's. */
function statusOf(c: Context<Env>): number {
  if (c.req.raw.signal.aborted) return CLIENT_GONE
  return c.var.sent !== undefined && c.error !== undefined ? problemBody(c, c.error).status : c.res.status
}

function levelOf(c: Context<Env>, status: number): LogLevel {
  // 500 and 502: a bug, or an engine that has to be looked at.
  if (status === 500 || status === 502) return 'error'
  if (status > 500) return 'warn'
  return c.req.path === '/health' || c.req.path === '/ready' ? 'debug' : 'info'
}

/** Null when no route took the request. */
function routePattern(c: Context<Env>): string | null {
  return matchedRoutes(c).findLast((route) => route.method !== 'ALL')?.path ?? null
}

/** Whether an operator has something to look at. What is wrong with a request is its caller's, and its cause may quote the body. */
function isOperators(error: Error | undefined, status: number): boolean {
  return status >= 500 || (error instanceof ServiceError && error.error === 'WorkflowNotReadyError')
}

function toldOf(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, fact instanceof Error ? withoutStack(fact) : fact]),
  )
}

/** A bug as it is; what we expected to go wrong with what lies below it. */
function causeOf(error: Error | undefined): unknown {
  if (!(error instanceof ServiceError)) return error
  const { cause = error.message } = error
  return cause instanceof Error && error.error !== 'InternalError' ? withoutStack(cause) : cause
}
