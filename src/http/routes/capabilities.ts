import { Hono } from 'hono'
import type { Workflows } from '../../domain/workflows.ts'
import { call, type Env } from '../context.ts'

/** For clients that have to know beforehand what a deployment lacks. */
export function capabilities(workflows: Workflows) {
  return new Hono<Env>().get('/capabilities', async (c) => c.json(await workflows.capabilities(call(c))))
}
