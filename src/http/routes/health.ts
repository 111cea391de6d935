import { Hono } from 'hono'
import type { Workflows } from '../../domain/workflows.ts'
import type { Env } from '../context.ts'

/** For load balancers: is the process there, and does it reach its engine? */
export function health(workflows: Workflows) {
  return new Hono<Env>()
    .get('/health', (c) => c.json({ status: 'ok' }))
    .get('/ready', async (c) =>
      (await workflows.ready())
        ? c.json({ status: 'ok', engine: 'reachable' })
        : c.json({ status: 'unavailable', engine: 'unreachable' }, 503),
    )
}
