import { Hono } from 'hono'
import type { Workflows } from '../../domain/model/workflows.ts'
import type { Env } from '../context.ts'
import { jsonResponse } from '../json-response.ts'

/** Liveness (`/health`) and readiness (`/ready`) for load balancers. */
export function health(workflows: Workflows) {
  return new Hono<Env>()
    .get('/health', (c) => jsonResponse(c, { status: 'ok' }))
    .get('/ready', async (c) => {
      const engine = await workflows.ready()
      return engine === 'reachable'
        ? jsonResponse(c, { status: 'ok', engine })
        : jsonResponse(c, { status: 'unavailable', engine }, 503)
    })
}
