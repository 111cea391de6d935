import { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import type { Log } from '../log.ts'
import { type Env, requestId } from './context.ts'
import { requireLoopbackHost } from './cross-site.ts'
import { matcherOf } from './endpoint.ts'
import { metrics, metricsResponse } from './endpoints/service.ts'
import { rawPath } from './path.ts'
import { serve } from './serve.ts'
import { notFound } from './unmatched.ts'

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
