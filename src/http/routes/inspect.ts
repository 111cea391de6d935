import { Hono } from 'hono'
import type { Workflows } from '../../domain/model/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'

/** Reads an execution: its status, what it waits for, its input and trace. */
export function inspect(workflows: Workflows) {
  return new Hono<Env>()
    .get('/status', async (c) => jsonResponse(c, await workflows.status(execution(c), toCall(c))))
    .get('/explain', async (c) => jsonResponse(c, await workflows.explain(execution(c), toCall(c))))
    .get('/input', async (c) => jsonResponse(c, await workflows.input(execution(c), toCall(c))))
    .get('/trace-log', async (c) => jsonResponse(c, await workflows.trace(execution(c), toCall(c))))
}
