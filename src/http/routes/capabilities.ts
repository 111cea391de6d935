import { Hono } from 'hono'
import type { Workflows } from '../../domain/model/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'

/** Lets clients find out which features this deployment supports. */
export function capabilities(workflows: Workflows) {
  return new Hono<Env>().get('/capabilities', async (c) => jsonResponse(c, await workflows.capabilities(toCall(c))))
}
