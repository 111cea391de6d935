import { Hono } from 'hono'
import { ServiceError } from '../../domain/model/errors.ts'
import type { Env } from '../context.ts'
import { respond } from '../response.ts'

// https://prometheus.io/docs/instrumenting/content_negotiation/
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** `GET /metrics` for Prometheus. `read` is null where metrics are not supported. */
export function metrics(read: (() => string) | null) {
  return new Hono<Env>().get('/metrics', (c) => {
    if (read === null)
      throw new ServiceError(
        'NotSupportedError',
        'Metrics are not supported on this runtime: each isolate would count only its own requests',
      )
    return respond(c, read(), 200, { 'Content-Type': CONTENT_TYPE })
  })
}
