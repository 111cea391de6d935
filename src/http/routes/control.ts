import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Workflows } from '../../domain/workflows.ts'
import { checkedString } from '../../protocol/checked-string.ts'
import { characterIssue } from '../../protocol/names.ts'
import { type Env, toCall } from '../context.ts'
import type { ReadJson } from '../json.ts'
import { jsonResponse } from '../json-response.ts'
import { execution } from '../path.ts'

/** Cancels or terminates an execution. */
export function control(workflows: Workflows, json: ReadJson) {
  return new Hono<Env>()
    .patch('/stop', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, endRequest)
      const { workflowId, runId, cancelRequested, status } = await workflows.stop({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, cancelRequested, status })
    })
    .post('/terminate', async (c) => {
      const ref = execution(c)
      const { reason = null } = await json(c, endRequest)
      const { workflowId, runId } = await workflows.terminate({ ref, reason }, toCall(c))
      return jsonResponse(c, { workflowId, runId, terminated: true })
    })
}

const endRequest = z.strictObject({ reason: z.exactOptional(checkedString(characterIssue)) })
