import { Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import type { Log } from '../log.ts'
import { check } from './check.ts'
import type { Env } from './context.ts'
import { requireLoopbackHost } from './cross-site.ts'
import { problemResponse } from './errors.ts'
import { observe } from './observe.ts'
import { rawPath } from './path.ts'
import { requestId } from './request-id.ts'
import { metrics } from './routes/metrics.ts'
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
  app.use(requestId(''), observe({ log }))
  if (loopbackOnly) app.use(check(requireLoopbackHost))
  app.route('/', metrics(read))
  app.notFound(notFound)
  app.onError((error, c) => problemResponse(c, error))
  return { fetch: async (request: Request): Promise<Response> => app.fetch(request) }
}
