import { Hono } from 'hono'
import type { Workflows } from '../../domain/workflows.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { execution } from '../path.ts'

/** What is known of an execution. */
export function inspect(workflows: Workflows) {
  return new Hono<Env>()
    .get('/status', async (c) => answer(c, await workflows.status(execution(c), call(c))))
    .get('/result', async (c) => answer(c, await workflows.result(execution(c), call(c))))
    .get('/trace-log', async (c) => answer(c, await workflows.trace(execution(c), call(c))))
}
