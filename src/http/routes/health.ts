import { Hono } from 'hono'
import type { Workflows } from '../../domain/workflows.ts'
import type { Env } from '../context.ts'

/** Liveness (`/health`) and readiness (`/ready`) for load balancers. */
export function health(workflows: Workflows) {
  return new Hono<Env>()
    .get('/health', (c) => c.json({ status: 'ok' }))
    .get('/ready', async (c) => {
      const engine = await workflows.ready()
      return engine === 'reachable' ? c.json({ status: 'ok', engine }) : c.json({ status: 'unavailable', engine }, 503)
    })
}
