import { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import type { Log } from '../log.ts'
import { type Env, requestId } from './http/context.ts'
import { matcherOf } from './http/endpoint.ts'
import { metrics, metricsResponse } from './http/endpoints/service.ts'
import { rawPath } from './http/path.ts'
import { requireLoopbackHost } from './http/pipeline/request-checks.ts'
import { serve } from './http/pipeline/serve.ts'
import { notFound } from './http/pipeline/unmatched.ts'

export interface MetricsAppOptions {
  read(): string
  /** As in `AppOptions`. */
  loopbackOnly: boolean
  log: Log
}

/** The HTTP application of the port that serves only `/metrics`, without a token. */
export function createMetricsApp({ read, loopbackOnly, log }: MetricsAppOptions) {
  const app = new Hono<Env>({ getPath: rawPath, router: new TrieRouter() })
  const steps = [requestId(''), ...(loopbackOnly ? [requireLoopbackHost] : [])]
  const observers = { log, isPeriodic: matcherOf([metrics]) }
  app.on(
    metrics.method,
    metrics.path,
    serve(observers, steps, (c) => metricsResponse(c, read)),
  )
  app.notFound(serve(observers, steps, notFound))
  return { fetch: (request: Request): Promise<Response> => Promise.resolve(app.fetch(request)) }
}
