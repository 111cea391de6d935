import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'
import { queryParameters } from '../query-parameters.ts'
import { duration, flag, integer } from './query-values.ts'

/** The events of a run, page by page. */
export function history(workflows: Workflows) {
  return new Hono<Env>().get('/history', async (c) => {
    const ref = execution(c)
    const { pageSize = 100, pageToken = null, wait = 0, includePayloads = true } = queryParameters(c, pageParameters)
    const command = { ref, pageSize, pageToken, waitMs: wait, includePayloads }
    return jsonResponse(c, await workflows.history(command, toCall(c)))
  })
}

const MAX_WAIT_MS = 60_000

const pageParameters = z.strictObject({
  pageSize: z.exactOptional(integer(1, 1000)),
  pageToken: z.exactOptional(z.string()),
  wait: z.exactOptional(duration(MAX_WAIT_MS)),
  includePayloads: z.exactOptional(flag),
})
